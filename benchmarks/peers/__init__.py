"""What people would take instead, on the same texts and draws."""
