# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A double of `vllm serve` that loads nothing, and does wrong what it is told to. Standard library, Python 3.11.

It answers, logs, stops and fails as vLLM 0.32 does (tests/contract/test_engine*.py tries both), and every answer
names the version of the weights. Its faults are environment variables, see `faults`; `install` makes an engine of it.
"""
