"""The messages of Vertex AI's training surface, in the terms of `app.wire.google.proto`."""
