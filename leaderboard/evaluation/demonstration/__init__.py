"""A demonstration of hidden tests: three tasks of scikit-learn's bundled data, and the predictions of eight models."""
