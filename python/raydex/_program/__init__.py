# SPDX-License-Identifier: Apache-2.0
"""The program `python -m raydex`, over the interface of the package alone."""
