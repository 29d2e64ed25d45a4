"""What a new attempt read otherwise than an old one, and corrections carried over from it."""
