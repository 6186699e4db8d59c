"""Decode neuron-monitor's output into typed reports."""
