"""An AWS emulator of our own on 127.0.0.1, and the real SAM CLI deploying to it."""
