#include <doctest/doctest.h>

#include <limits>

#include "base/error.hpp"
#include "document/temporary_folder.hpp"
#include "import/sizes/size_files.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

std::string entry(const std::string& name, const std::string& shapes, std::int64_t created) {
  return R"({"profiling_name": "nccl:)" + name + R"(", "input_sizes": )" + shapes +
         R"(, "input_dtypes": ["Float"], "time_created_ns": )" + std::to_string(created) +
         R"(, "state": "completed", "is_p2p": false})";
}

// Steps of 1 ms with three all-reduces at 100, 110 and 120 us: from the call `first` on, `calls` of
// them, with other collectives between.
std::string dump(std::size_t first, std::size_t calls, std::int64_t last_size = 5) {
  const std::vector<std::string> shapes{"[[10, 20]]", "[[30], [4, 2]]", "[[7]]"};
  std::string text = entry("broadcast", "[[99]]", 0);
  for (std::size_t i = first; i < first + calls; ++i) {
    const auto created =
        static_cast<std::int64_t>(1'000'000 * (i / 3) + 100'000 + 10'000 * (i % 3));
    text += ", " +
            entry("all_reduce",
                  i + 1 == first + calls && last_size != 5 ? "[[" + std::to_string(last_size) + "]]"
                                                           : shapes[i % 3],
                  created) +
            ", " + entry("all_reduce_barrier", "[[1]]", created + 1);
  }
  return R"({"version": "2.4", "entries": [)" + text + "]}";
}

std::vector<std::int64_t> sizes(const std::vector<FlightRecord::AllReduce>& step) {
  std::vector<std::int64_t> list;
  for (const FlightRecord::AllReduce& call : step) {
    list.push_back(call.elements);
  }
  return list;
}

} // namespace

TEST_CASE("flight recorder: without times no step is found") {
  const TemporaryFolder folder;
  std::string text = dump(0, 9);
  const std::string time = R"("time_created_ns": 1110000)";
  const std::size_t at = text.find(time);
  REQUIRE(at != std::string::npos);
  text.replace(at, time.size(), R"("other": 0)");
  const FlightRecord record = read_flight_record(folder.put("r.json", text), 1e6);
  CHECK_THROWS_AS((void)step_of(record, 3), InputError);
}

TEST_CASE("flight recorder: the last whole step, wherever the record begins and ends") {
  const TemporaryFolder folder;
  for (std::size_t first = 0; first < 3; ++first) {
    for (std::size_t calls = 8; calls < 14; ++calls) {
      CAPTURE(first);
      CAPTURE(calls);
      const FlightRecord record = read_flight_record(folder.put("r.json", dump(first, calls)), 1e6);
      CHECK(record.all_reduces.size() == calls);
      CHECK(record.all_reduces.front().dtype == "Float");
      CHECK(sizes(step_of(record, 3)) == std::vector<std::int64_t>{10 * 20, 30 + 4 * 2, 7});
    }
  }
}

TEST_CASE("flight recorder: what does not repeat, or is no record, is refused") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& text, std::size_t per_step, const char* why) {
    CAPTURE(text);
    try {
      (void)step_of(read_flight_record(folder.put("r.json", text), 1'000'000), per_step);
      FAIL("taken");
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find(why) != std::string::npos);
    }
  };
  refused(dump(0, 9), 2, "9 all-reduces, of which a step of the trace has 2: they do not repeat");
  refused(dump(0, 9, 6), 3, "do not repeat");
  refused(dump(0, 5), 3, "two steps are needed");
  refused(dump(0, 9), 0, "two steps are needed");
  refused(R"({"traceEvents": []})", 1, "no entries");
  refused(R"({"entries": [)" +
              entry("all_reduce", "[[1]]", std::numeric_limits<std::int64_t>::min()) + ", " +
              entry("all_reduce", "[[2]]", std::numeric_limits<std::int64_t>::max()) + "]}",
          1, "they do not repeat");
  refused(R"({"entries": []})", 1, "no all-reduce among its entries");
  refused(R"({"entries": [)" + entry("all_reduce", "[[-1]]", 0) + "]}", 1,
          "must be a list of shapes");
  refused(R"({"entries": [)" + entry("all_reduce", "3", 0) + "]}", 1, "must be a list of shapes");
  refused(R"({"entries": [)" + entry("all_reduce", "[[9007199254740992, 1024]]", 0) + "]}", 1,
          "must be a list of shapes");
}
