// SPDX-License-Identifier: Apache-2.0
/// @file
/// Symbols are hidden unless marked.
#pragma once

/// Put before a class or function that the library offers to its users.
#define RAYDEX_EXPORT __attribute__((visibility("default")))

/// Put before what the library offers to libraydex_papers alone: no interface, and it changes with
/// any version.
#define RAYDEX_INTERNAL RAYDEX_EXPORT
