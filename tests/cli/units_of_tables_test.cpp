// Numbers for people carry the unit that their heading or their text names.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/shell/document.hpp"
#include "cli/shell/unit_text.hpp"
#include "cli/text/record_table.hpp"
#include "study/sweep/ranking.hpp"

using namespace stepsim;

TEST_CASE("values: rates in bits per second, times and sizes in the first unit below 1000") {
  CHECK(cli::value_text("bandwidth_Bps", 3.125e9) == "25 Gb/s"); // 8 x 3.125e9
  CHECK(cli::value_text("bandwidth_Bps", 1.25e7) == "100 Mb/s");
  CHECK(cli::value_text("latency_s", 5e-6) == "5 us");
  CHECK(cli::value_text("latency_s", 1.5) == "1.5 s");
  CHECK(cli::value_text("bucket_bytes", 26214400) == "26.2144 MB");
  CHECK(cli::column_unit("bandwidth_Bps").factor * 1e9 == 8); // GB/s in Gb/s
}

TEST_CASE("records: milliseconds, percent and hours under their headings; the least time is best") {
  const std::vector<io::Json> rows{io::Object{{"nodes", 4},
                                              {"iteration_time_s", 0.25},
                                              {"scaling_efficiency", 0.5},
                                              {"loss_fraction", 0.025},
                                              {"time_to_accuracy_s", 7200}},
                                   io::Object{{"nodes", 8},
                                              {"iteration_time_s", 0.125},
                                              {"scaling_efficiency", 0.75},
                                              {"loss_fraction", 0.05},
                                              {"time_to_accuracy_s", 5400}}};
  const std::vector<std::string> varied{"nodes"};
  const std::vector<std::int64_t> ranks{4, 8};
  const study::Ranking ranking = study::rank_rows(rows, ranks, study::BestBy::iteration_time);
  const std::string text =
      cli::table_text(cli::record_tables({rows, varied, ranking, ranks, {}}).back());
  CAPTURE(text);
  const auto line = [&](std::size_t number) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < number; ++i) {
      begin = text.find('\n', begin) + 1;
    }
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  for (const char* heading : {"iteration [ms]", "efficiency [%]", "loss [%]", "to accuracy [h]"}) {
    CHECK(line(0).find(heading) != std::string::npos);
  }
  for (const char* cell : {"250.0", "50.00", "2.500", "2.000"}) { // 7200 / 3600
    CHECK(line(1).find(cell) != std::string::npos);
  }
  CHECK(line(1).find("best") == std::string::npos);
  for (const char* cell : {"125.0", "75.00", "5.000", "1.500", "best"}) {
    CHECK(line(2).find(cell) != std::string::npos);
  }
}
