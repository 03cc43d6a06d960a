// SPDX-License-Identifier: Apache-2.0
// What the backends' full scans have in common.
#pragma once

#include <memory>

#include "raydex/core/minima/rmq_scan.hpp"
#include "raydex/rmq_scan.hpp"
#include "src/operations/minima/built_rmq.hpp"

namespace raydex {

template <class Value, class Place, class Executor>
class built_rmq_scan final : public built_rmq<core::rmq_scan_view<Value, Place>, Executor> {
 public:
  built_rmq_scan(const rmq_info& info, const context& on, const column& values,
                 const rmq_scan_options& options)
      : built_rmq_scan::built_rmq(info, on.memory) {
    this->set_view({array_of<Value>(values, options.extreme), options.ties == rmq_ties::rightmost});
    this->measure();
  }

 private:
  void do_refresh(stream_t /*stream*/, const column& /*positions*/) override {}
};

template <class Executor>
std::unique_ptr<rmq> make_rmq_scan(const rmq_info& info, const context& on, const column& values,
                                   const rmq_scan_options& options) {
  return dispatch_coded(values, [&]<class Value, class Place>() -> std::unique_ptr<rmq> {
    return std::make_unique<built_rmq_scan<Value, Place, Executor>>(info, on, values, options);
  });
}

}  // namespace raydex
