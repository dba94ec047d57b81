#include "import/sizes/size_files.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/error.hpp"
#include "document/temporary_folder.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

DdpLog log_of(const std::string& text) {
  const TemporaryFolder folder;
  return read_ddp_log(folder.put("ddp.txt", text), 1e6);
}

} // namespace

TEST_CASE("ddp log: sizes as a text, as a list over several lines, and of each bucket") {
  const std::vector<std::int64_t> sizes{4000, 8196000};
  CHECK(log_of("{'rebuilt_bucket_sizes': '4000, 8196000', 'world_size': 2}").bucket_bytes == sizes);
  CHECK(log_of("{\"bucket_sizes\": [4000,\n  8196000\n]}").bucket_bytes == sizes);
  CHECK(log_of("bucket_sizes: [[4000], [8196000]]").bucket_bytes == sizes);
  CHECK(log_of("world_size: 2, bucket_sizes: 4000, 8196000, NCCL_DEBUG: N/A").bucket_bytes ==
        sizes);
}

TEST_CASE("ddp log: a list with something else than whole numbers is refused, not cut short") {
  for (const std::string list :
       {"[4000, -3, 8196000]", "[4000, 1.5]", "[4000, x]", "[4000, 3", "4000, x, 5", "4000, x",
        "4000 x: 5", "4000, -3", "4000, 1.5", "'4000, 3 MB'"}) {
    CAPTURE(list);
    CHECK_THROWS_AS((void)log_of("bucket_sizes: " + list), InputError);
  }
}
