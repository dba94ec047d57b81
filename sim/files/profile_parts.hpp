#pragma once
// The parts of a profile that speak of training: how much longer dense all-reduces took than the
// network model says, what compressing costs, and timed kernels (SPA 9, CAL 5). Internal to
// parse_profile.
#include <string_view>

#include "net/profile/profile.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

// Reads a member as an object, if it is there; `read` sees its fields.
template <class Read> void object(Fields& parent, std::string_view key, Read read) {
  const Json* json = parent.any(key);
  if (json == nullptr || json->is_null()) {
    return;
  }
  Fields fields(*json, parent.problems(), parent.row(key));
  read(fields);
  fields.no_more();
}

// Checks a list of numbers, if it is there.
void numbers(Fields& parent, std::string_view key);

// Each reads its own key of the file, or does nothing if it is absent, and reports problems in
// `fields`.
void parse_dense_inflation(Fields& fields, net::NetworkProfile& profile);
void parse_compression_costs(Fields& fields, net::NetworkProfile& profile);
void check_kernels(Fields& fields);

} // namespace stepsim::io
