"""Zhang and Hardt 2024: what the paper prints, what the authors' notebooks print, and ours."""
