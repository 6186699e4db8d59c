"""An AWS emulator on 127.0.0.1, and the real SAM CLI that deploys to it."""
