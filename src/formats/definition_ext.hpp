// SPDX-License-Identifier: Apache-2.0
// The value of `x_kernwright` in a Definition. Keys: docs/formats.md.
#pragma once

#include "formats/decoding.hpp"
#include "model/definition.hpp"

namespace kw {

/// Needs axes, inputs and outputs of `definition`; fills ext and ext_json.
void decode_ext(Decoding& decoding, const Json& j, Definition& definition);

/// As written, or made from the record when it was made in memory. `inlined` adds the text of the
/// sources and drops `reference_file`.
Json ext_to_json(const Definition& definition, bool inlined);

} // namespace kw
