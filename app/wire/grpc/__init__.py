"""Vertex AI over gRPC: the same RPCs as over REST, with the messages of Google's package (VX-20)."""
