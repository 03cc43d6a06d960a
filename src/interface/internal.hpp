// SPDX-License-Identifier: Apache-2.0
// What libraydex exports to libraydex_papers alone.
#pragma once

// Put before what libraydex_papers takes from libraydex. No header is installed for it, and it
// changes with any version.
#define RAYDEX_INTERNAL __attribute__((visibility("default")))
