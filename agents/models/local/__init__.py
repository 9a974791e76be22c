"""Language models in this process: Hugging Face transformers, in batches shared by all matches."""
