#include <doctest/doctest.h>

#include <cmath>

#include "base/error.hpp"
#include "cli/commands/commands.hpp"
#include "cli/shell/document.hpp"
#include "cli/shell/entry.hpp"
#include "cli/shell/output.hpp"
#include "cli/shell/progress.hpp"
#include "cli/shell/unit_text.hpp"
#include "cli/text/answer_texts.hpp"
#include "cli/text/topology_text.hpp"
#include "document/csv.hpp"
#include "document/json_text.hpp"

using namespace stepsim;

TEST_CASE("a command that a build lacks is skipped, and its help says what is missing") {
  constexpr std::array commands{cli::Command{"", "gone", "not here", nullptr, "CUDA"}};
  const auto text = [] { return std::string("text"); };
  const cli::ProgramTable program{
      .name = "some", .summary = "does it", .commands = commands, .help = text, .version = text};
  std::string name = "some";
  std::string command = "gone";
  std::array<char*, 2> words{name.data(), command.data()};
  CHECK(cli::dispatch(program, 2, words.data()) == cli::kSkipped);
  cli::Invocation invocation;
  invocation.arguments = {"gone"};
  CHECK_THROWS_WITH_AS((void)cli::help_of(invocation, program), "gone: built without CUDA",
                       UsageError);
}

TEST_CASE("table: numbers to the right, words to the left, no blanks at the end of a line") {
  const cli::Table table{{"name", "time [ms]", ""}, {{"a", "1.5", "best"}, {"bcdef", "100", ""}}};
  CHECK(cli::table_text(table) == "name   time [ms]\n"
                                  "a            1.5  best\n"
                                  "bcdef        100\n");
}

TEST_CASE("table: widths count characters, not bytes") {
  const cli::Table table{{"x", "y"}, {{"5 µs", "1"}, {"25 s", "2"}}};
  CHECK(cli::table_text(table) == "   x  y\n5 µs  1\n25 s  2\n");
}

TEST_CASE(
    "table: one that is wider than the terminal becomes several, each with its first column") {
  const cli::Table table{{"row", "time [ms]", "rate", "note"},
                         {{"a", "1.5", "12", "as it is"}, {"bcd", "100", "3", "best"}}};
  const std::string wide = cli::table_text(table);
  CHECK(cli::folded_tables(wide, 80) == wide);
  const std::string narrow = "row  time [ms]  rate\n"
                             "a          1.5    12\n"
                             "bcd        100     3\n"
                             "\n"
                             "row  note\n"
                             "a    as it is\n"
                             "bcd  best\n";
  CHECK(cli::folded_tables(wide, 24) == narrow);
  // A column that is too wide stands alone; what is no table, and a caption, are left as they are.
  CHECK(cli::folded_tables(
            "a caption that is long, too long\n" + wide + "\nSome long text of one line.\n", 24) ==
        "a caption that is long, too long\n" + narrow + "\nSome long text of one line.\n");
  CHECK(cli::folded_tables("k  one  more than ten\nl  two  x\n", 10) ==
        "k  one\nl  two\n\nk  more than ten\nl  x\n");
}

TEST_CASE("tables: a page of HTML and Markdown, with what they would read as their own escaped") {
  const cli::Table table{{"name", "time [ms]"}, {{"a<b|c", "1.5"}, {"d", "100"}}, "under & over"};
  const std::string html = cli::tables_in(cli::Format::html, {&table, 1});
  CHECK(html.starts_with("<!doctype html>"));
  CHECK(html.find("<caption>under &amp; over</caption>") != std::string::npos);
  CHECK(html.find("<tr><th scope=\"col\" class=\"word\">name</th>") != std::string::npos);
  CHECK(html.find("<tr><td class=\"word\">a&lt;b|c</td><td>1.5</td></tr>") != std::string::npos);
  CHECK(cli::tables_in(cli::Format::markdown, {&table, 1}) == "under & over\n\n"
                                                              "| name | time [ms] |\n"
                                                              "|:---|---:|\n"
                                                              "| a\\<b\\|c | 1.5 |\n"
                                                              "| d | 100 |\n");
  CHECK(cli::tables_in(cli::Format::table, {&table, 1}) ==
        "under & over\n" + cli::table_text(table));
}

TEST_CASE("document: one answer in every format") {
  const io::Json tree = io::Object{
      {"rows", io::Array{io::Object{{"bytes", 2'500'000}, {"error", nullptr}, {"name", "a"}},
                         io::Object{{"bytes", nullptr}, {"error", nullptr}, {"name", "b"}}}}};
  const std::vector<cli::Column> columns{{"name", "row", 1, cli::in_full}, {"bytes", "MB", 1e-6}};
  cli::Document document{
      .tables = [&] { return std::vector{table_of(tree.find("rows")->as_array(), columns)}; },
      .tree = [&] { return tree; },
      .records = [&] { return tree.find("rows")->as_array(); },
      .kept = {"name"}};
  const auto in = [&](std::string format, std::vector<std::string> chosen = {}) {
    cli::Common common;
    common.format = std::move(format);
    common.columns = std::move(chosen);
    return cli::rendered(document, common);
  };
  CHECK(in("") == "row     MB\na    2.500\nb        -\n");
  CHECK(in("markdown") == "| row | MB |\n|:---|---:|\n| a | 2.500 |\n| b | - |\n");
  CHECK(in("html").find("<td>2.500</td>") != std::string::npos);
  CHECK(in("json") == io::pretty(tree));
  CHECK(in("csv") == "bytes,error,name\n2500000,,a\n,,b\n");
  CHECK(in("csv", {"bytes"}) == "name,bytes\na,2500000\nb,\n");
  CHECK(in("jsonl", {"bytes"}) == "{\"bytes\":2500000,\"name\":\"a\"}\n"
                                  "{\"bytes\":null,\"name\":\"b\"}\n");
  CHECK_THROWS_AS(in("json", {"size"}), UsageError); // a column that no record has
  document.text = [] { return std::string("two rows\n"); };
  CHECK(in("table") == "two rows\n");
  CHECK(in("markdown") != "two rows\n");
  document.records = nullptr;
  CHECK(in("jsonl") == io::compact(tree) + "\n");
  document.tree = [] { return io::Json(io::Object{{"a", HUGE_VAL}}); };
  CHECK_THROWS_AS(in("json"), SimulationError);
}

TEST_CASE("cells: what is below 1e-9 of the whole is 0") {
  CHECK(cli::milliseconds_cell(cli::part_of(0.9e-9, 1)) == "0");
  CHECK(cli::milliseconds_cell(cli::part_of(-0.9e-9, 1)) == "0");
  CHECK(cli::milliseconds_cell(cli::part_of(1.1e-9, 1)) == "1.100e-06");
  CHECK(cli::part_of(std::nullopt, 1) == std::nullopt);
}

TEST_CASE("cells: four digits, a dash for what does not exist") {
  CHECK(cli::milliseconds_cell(0.0123456) == "12.35");
  CHECK(cli::percent_cell(0.5) == "50.00 %");
  CHECK(cli::cell(std::nullopt) == "-");
}

TEST_CASE(
    "columns: one unit in the heading, or one in each cell where that would not be readable") {
  const auto column = [](std::string_view key, std::vector<io::Json> values) {
    cli::Table made;
    cli::add_value_column(made, key, values);
    return std::pair(made.headings.front(), base::collected<std::string>(
                                                made.rows, [](auto& row) { return row.front(); }));
  };
  using Cells = std::vector<std::string>;
  CHECK(column("credit_bytes", {1000, 4003610, 0}) ==
        std::pair(std::string("credit [MB]"), Cells{"0.001000", "4.004", "0"}));
  CHECK(column("credit_bytes", {1, 131072, 4003610}) ==
        std::pair(std::string("credit"), Cells{"1 B", "131.1 kB", "4.004 MB"}));
  CHECK(column("nodes", {1, 1048576}) == std::pair(std::string("nodes"), Cells{"1", "1048576"}));
  CHECK(column("schedule", {"wfbp", nullptr}) ==
        std::pair(std::string("schedule"), Cells{"wfbp", "-"}));
}

TEST_CASE("values that differ are written with the digits that show it") {
  const auto texts = [](std::string_view key, double a, double b) {
    return cli::distinct_texts(key, a, b);
  };
  using Texts = std::pair<std::string, std::string>;
  CHECK(texts("time_s", 0.165681, 0.164981) == Texts{"165.681 ms", "164.981 ms"});
  CHECK(texts("time_s", 0.1000001, 0.1) == Texts{"100.0001 ms", "100 ms"});
  CHECK(texts("speedup", 1, 1) == Texts{"1", "1"});
}

TEST_CASE(
    "progress: work that is not counted shows its time, and the estimate where there is one") {
  CHECK(cli::elapsed_line("stepsim run", 12.7, -1) == "stepsim run: 12 s");
  CHECK(cli::elapsed_line("stepsim run", 12.7, 60) == "stepsim run: 12 s of about 60 s");
  CHECK(cli::elapsed_line("stepsim run", 100, 3725) == "stepsim run: 1:40 of about 1:02:05");
  CHECK(cli::elapsed_line("stepsim run", 0, 3725) == "stepsim run: 0 s of about 1:02:05");
  CHECK(cli::elapsed_line("stepsim run", 75, 60) == "stepsim run: 75 s, expected about 60 s");
}

TEST_CASE("study: a second half that is longer or shorter than the range says so") {
  study::TraceAnswer answer;
  answer.predicted = {.step_s = 0.1, .band = base::Band{.low = 0.09, .high = 0.12, .level = 0.8}};
  answer.predicted_half_s = 0.2;
  const auto text = [&](double other_s) {
    answer.other_half_s = other_s;
    return cli::carried_sentence(answer);
  };
  CHECK(text(0.239).find("interval") == std::string::npos);
  CHECK(text(0.181).find("interval") == std::string::npos);
  CHECK(text(0.241).find(", longer than that interval: ") != std::string::npos);
  CHECK(text(0.179).find(", shorter than that interval: ") != std::string::npos);
  answer.predicted.band.reset();
  CHECK(text(1).find("interval") == std::string::npos);
}

TEST_CASE("study: what shortens the step by less than half a per cent is not listed") {
  study::TraceStudy study;
  const auto free_changes = [&](double gain) {
    study.help = {{.change = "schedule dear",
                   .set = {},
                   .step_s = 1 - gain,
                   .gain = gain,
                   .kind = study::ChangeKind::schedule}};
    return cli::help_sentences(study).front();
  };
  CHECK(free_changes(0.0051).find("schedule dear") != std::string::npos);
  CHECK(free_changes(0.0049).find("no change tried") != std::string::npos);
  CHECK(free_changes(0.0049).find("schedule dear") == std::string::npos);
}

TEST_CASE("progress: bar, count, rate and time to go") {
  // 1234 of 9000 = 2.7 of 20 marks; 42 s to go
  CHECK(cli::progress_line(1234, 9000, 12300, 41.2) ==
        "[##                  ] 1234/9000  12.3 k/s  ETA 0:42");
  CHECK(cli::progress_line(9000, 9000, 5, 3725) ==
        "[####################] 9000/9000  5.00 /s  ETA 1:02:05");
  CHECK(cli::progress_line(500, 2000, 70.1, 22, "MB") ==
        "[#####               ] 500/2000 MB  70.1 MB/s  ETA 0:22");
  CHECK(cli::progress_line(0, 0, 0, -1) == "[####################] 0/0  0 /s");
}

TEST_CASE("csv: nested keys are joined, lists left out, quotes doubled, null empty") {
  const io::Json record(io::Object{{"b", io::Object{{"min", 1}, {"max", 2.5}}},
                                   {"list", io::Array{1, 2}},
                                   {"a", "say \"x\", y"},
                                   {"none", nullptr}});
  CHECK(cli::csv_text({io::flattened(record), io::Object{{"c", true}}}) ==
        "a,b_max,b_min,c,none\n"
        "\"say \"\"x\"\", y\",2.5,1,,\n"
        ",,,true,\n");
}

TEST_CASE("shares of the nominal rate: of a network, and of a node's links and cards") {
  const auto text = [](const char* json) {
    return cli::share_text(cli::nominal_shares(io::parse_json(json, "")));
  };
  const char* const tcp = R"({"network": {"nominal_Bps": 1e10, "bandwidth_Bps":
      {"value": 1.8e9, "low": 1.5e9, "high": 2.1e9}}})";
  CHECK(text(tcp) == "18 % (15 to 21)");
  CHECK(io::compact(cli::share_tree(cli::nominal_shares(io::parse_json(tcp, "")))) ==
        R"({"network":{"high":0.21,"low":0.15,"value":0.18}})");
  CHECK(text(R"({"network": {"nominal_Bps": 2e9, "bandwidth_Bps": 1.9e9}})") == "95 %");
  CHECK(text(R"({"link_nominal_Bps": 4e11, "ring_Bps": {"value": 3e11}, "nic_nominal_Bps": 5e10,
      "nic_Bps": {"value": 4e10, "low": 3e10, "high": 4.5e10}})") ==
        "inside 75 %, card 80 % (60 to 90)");
  CHECK(text(R"({"network": {"bandwidth_Bps": 1.9e9}, "hosts": 4})").empty());
  CHECK(cli::share_tree({}).is_null());
}
