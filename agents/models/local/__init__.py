"""Language models in this process: Hugging Face transformers, one reply at a time."""
