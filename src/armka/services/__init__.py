"""Recognition services: each speaks only the contract, and none imports another."""
