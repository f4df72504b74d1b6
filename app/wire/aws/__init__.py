"""AWS JSON 1.1: the model as gate, validation, projection, errors, one endpoint for all."""
