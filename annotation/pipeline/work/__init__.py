"""What workers see and send: guides, questions as shown, answers, and the proof of acceptance."""
