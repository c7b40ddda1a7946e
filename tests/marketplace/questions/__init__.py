"""Reading questions, answer keys and answers, and grading tests."""
