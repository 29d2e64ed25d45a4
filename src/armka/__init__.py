"""arm-ka: trial balances (ОСВ) recognised by services over NATS, checked, never lost or doubled."""
