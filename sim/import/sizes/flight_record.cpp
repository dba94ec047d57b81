#include "import/sizes/size_files.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/statistics.hpp"
#include "document/json_text.hpp"

namespace stepsim::io {

namespace {

// The product of a shape; several inputs are sent as one message and summed up.
std::int64_t elements_of(const Json& shapes, const std::string& file) {
  const auto fail = [&]() -> std::int64_t {
    throw InputError(file, shapes.pointer(), "must be a list of shapes, as [[1024, 1000]]");
  };
  if (!shapes.is_array()) {
    return fail();
  }
  std::int64_t sum = 0;
  for (const Json& shape : shapes.as_array()) {
    if (!shape.is_array()) {
      return fail();
    }
    std::int64_t product = 1;
    for (const Json& size : shape.as_array()) {
      if (!size.is_integer() || size.as_integer() < 0 ||
          (size.as_integer() > 0 && product > kMostElements / size.as_integer())) {
        return fail();
      }
      product *= size.as_integer();
    }
    sum += product;
    if (sum > kMostElements) {
      return fail();
    }
  }
  return sum;
}

bool same(const FlightRecord::AllReduce& a, const FlightRecord::AllReduce& b) {
  return a.elements == b.elements && a.dtype == b.dtype;
}

} // namespace

FlightRecord read_flight_record(const std::string& path, std::uint64_t max_bytes) {
  FlightRecord record;
  const ImportedText input = read_import(path, max_bytes);
  record.file = input.name;
  record.source = input.file;
  const Json root = parse_json(input.text, input.name);
  const Json* entries = root.find("entries");
  if (entries == nullptr || !entries->is_array()) {
    throw InputError(record.file, "", "no entries: not a dump of PyTorch's flight recorder");
  }
  for (const Json& entry : entries->as_array()) {
    const Json* shapes = entry.find("input_sizes");
    if (!entry.text("profiling_name").ends_with(":all_reduce") || shapes == nullptr) {
      continue; // other collectives, barriers and transfers between two ranks
    }
    FlightRecord::AllReduce& call = record.all_reduces.emplace_back();
    call.elements = elements_of(*shapes, record.file);
    const Json* dtypes = entry.find("input_dtypes");
    if (dtypes != nullptr && dtypes->is_array() && !dtypes->as_array().empty()) {
      const Json& dtype = dtypes->as_array().front();
      call.dtype = dtype.is_string() ? dtype.as_string() : "";
    }
    const Json* created = entry.find("time_created_ns");
    call.created_ns = created != nullptr && created->is_integer() ? created->as_integer() : 0;
  }
  if (record.all_reduces.empty()) {
    throw InputError(record.file, "", "no all-reduce among its entries");
  }
  return record;
}

std::vector<FlightRecord::AllReduce> step_of(const FlightRecord& record, std::size_t per_step) {
  const auto& calls = record.all_reduces;
  const auto refuse = [&](const std::string& why) {
    throw InputError(record.file, "",
                     fmt::format("{} all-reduces, of which a step of the trace has {}: {}",
                                 calls.size(), per_step, why));
  };
  if (per_step == 0 || calls.size() < 2 * per_step) {
    refuse("two steps are needed");
  }
  if (std::ranges::any_of(calls, [](const auto& call) { return call.created_ns == 0; })) {
    refuse("each needs time_created_ns, since a pause tells where a step begins");
  }
  // Pauses before the calls at each place within a step; the first call has none.
  std::size_t place = 0;
  double longest = -1;
  for (std::size_t p = 0; p < per_step; ++p) {
    std::vector<double> pauses;
    for (std::size_t i = p == 0 ? per_step : p; i < calls.size(); i += per_step) {
      // Exact for times of today, and defined for any.
      pauses.push_back(static_cast<double>(static_cast<long double>(calls[i].created_ns) -
                                           static_cast<long double>(calls[i - 1].created_ns)));
    }
    if (const double pause = base::median(pauses); pause > longest) {
      longest = pause;
      place = p;
    }
  }
  // The last step that begins there and is whole.
  const std::size_t whole = (calls.size() - place) / per_step;
  const std::size_t first = place + (whole - 1) * per_step;
  std::vector<FlightRecord::AllReduce> step(calls.begin() + static_cast<std::ptrdiff_t>(first),
                                            calls.begin() +
                                                static_cast<std::ptrdiff_t>(first + per_step));
  for (std::size_t i = std::max(first, per_step); i < first + per_step; ++i) {
    if (!same(calls[i], calls[i - per_step])) {
      refuse("they do not repeat");
    }
  }
  return step;
}

} // namespace stepsim::io
