"""What a model is sent: the messages of a match, and the form that its reply is to have."""
