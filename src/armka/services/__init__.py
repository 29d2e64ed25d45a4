"""Recognition services: each speaks only the contract, through the SDK, and none imports another."""
