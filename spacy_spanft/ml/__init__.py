"""Arrays and models: alignment, layers, architectures and optimizers."""
