"""Language models in this process: Hugging Face transformers, played in batches that all matches share."""
