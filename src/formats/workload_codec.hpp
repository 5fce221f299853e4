// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "formats/decoding.hpp"
#include "model/workload.hpp"

namespace kw {

Workload decode_workload_object(Decoding& decoding, const Json& j, const std::string& pointer);
Json workload_to_json(const Workload& workload);

} // namespace kw
