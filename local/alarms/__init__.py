"""
The template's own alarms, evaluated as CloudWatch documents it.

The emulator's alarm states ignore dimensions, M of N and missing data, so they are wrong and never
shown: `definition` reads the alarms of `template.yaml`, `evaluation` decides.
"""
