"""Fine-tuning with 100, 300 or 1,000 labels: does the head over spans help there?"""
