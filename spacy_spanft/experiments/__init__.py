"""Arms, seeds and tasks: trained, compared and reported."""
