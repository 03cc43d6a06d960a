// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything that raydex offers.
#pragma once

#include "raydex/advise.hpp"                   // IWYU pragma: export
#include "raydex/aggregate.hpp"                // IWYU pragma: export
#include "raydex/arrow.hpp"                    // IWYU pragma: export
#include "raydex/btree.hpp"                    // IWYU pragma: export
#include "raydex/capability.hpp"               // IWYU pragma: export
#include "raydex/cgrx.hpp"                     // IWYU pragma: export
#include "raydex/column.hpp"                   // IWYU pragma: export
#include "raydex/composite_keys.hpp"           // IWYU pragma: export
#include "raydex/direct.hpp"                   // IWYU pragma: export
#include "raydex/edits.hpp"                    // IWYU pragma: export
#include "raydex/error.hpp"                    // IWYU pragma: export
#include "raydex/estimate.hpp"                 // IWYU pragma: export
#include "raydex/eytzinger.hpp"                // IWYU pragma: export
#include "raydex/hash_bucket.hpp"              // IWYU pragma: export
#include "raydex/hash_open.hpp"                // IWYU pragma: export
#include "raydex/index.hpp"                    // IWYU pragma: export
#include "raydex/index_file.hpp"               // IWYU pragma: export
#include "raydex/index_file_builder.hpp"       // IWYU pragma: export
#include "raydex/interruptible.hpp"            // IWYU pragma: export
#include "raydex/interval_coverage.hpp"        // IWYU pragma: export
#include "raydex/is_in.hpp"                    // IWYU pragma: export
#include "raydex/join.hpp"                     // IWYU pragma: export
#include "raydex/key_dictionary.hpp"           // IWYU pragma: export
#include "raydex/memory.hpp"                   // IWYU pragma: export
#include "raydex/nearest_join.hpp"             // IWYU pragma: export
#include "raydex/options.hpp"                  // IWYU pragma: export
#include "raydex/order_join.hpp"               // IWYU pragma: export
#include "raydex/partition.hpp"                // IWYU pragma: export
#include "raydex/pivot_tree.hpp"               // IWYU pragma: export
#include "raydex/pmr_resource.hpp"             // IWYU pragma: export
#include "raydex/repairs.hpp"                  // IWYU pragma: export
#include "raydex/rmq.hpp"                      // IWYU pragma: export
#include "raydex/rmq_cover.hpp"                // IWYU pragma: export
#include "raydex/rmq_hierarchy.hpp"            // IWYU pragma: export
#include "raydex/rmq_lca.hpp"                  // IWYU pragma: export
#include "raydex/rmq_rx.hpp"                   // IWYU pragma: export
#include "raydex/rmq_scan.hpp"                 // IWYU pragma: export
#include "raydex/rx.hpp"                       // IWYU pragma: export
#include "raydex/search_sorted.hpp"            // IWYU pragma: export
#include "raydex/session.hpp"                  // IWYU pragma: export
#include "raydex/sorted_array.hpp"             // IWYU pragma: export
#include "raydex/speed_table.hpp"              // IWYU pragma: export
#include "raydex/stream_ordered_resource.hpp"  // IWYU pragma: export
#include "raydex/version.hpp"                  // IWYU pragma: export
#include "raydex/window_join.hpp"              // IWYU pragma: export
