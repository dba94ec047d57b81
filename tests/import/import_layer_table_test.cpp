// Layer tables as CSV (IO 9, 17).
#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/csv.hpp"
#include "document/temporary_folder.hpp"
#include "import/import_layer_table.hpp"

using namespace stepsim;
using namespace stepsim::io;

namespace {

layers::Trace import_text(const std::string& text) {
  const TemporaryFolder folder;
  return import_layer_table(folder.put("layers.csv", text), {});
}

// All problems, one per line, behind the file name.
std::string failure(const std::string& text) {
  try {
    (void)import_text(text);
  } catch (const InputError& error) {
    std::string all;
    for (const base::Problem& problem : error.problems()) {
      const std::string line = problem.text();
      all += line.substr(line.find("layers.csv") + 10) + "\n";
    }
    return all;
  }
  return "no error";
}

} // namespace

TEST_CASE("csv: quotes, doubled quotes, comments, CRLF, byte order mark, tabs") {
  const auto rows = parse_csv("\xef\xbb\xbf"
                              "a,b\r\n# comment\r\n\r\n\"x,\"\"y\"\"\nz\",2\r\nlast,",
                              "f.csv");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].fields == std::vector<std::string>{"a", "b"});
  CHECK(rows[1].line == 4);
  CHECK(rows[1].fields == std::vector<std::string>{"x,\"y\"\nz", "2"});
  CHECK(rows[2].line == 6); // the quoted field spans two lines
  CHECK(rows[2].fields == std::vector<std::string>{"last", ""});
  CHECK(parse_csv("a b\tc\n1,5\t2\n", "f")[1].fields == std::vector<std::string>{"1,5", "2"});
  CHECK_THROWS_WITH_AS(parse_csv("a\n\"b", "f.csv"), "f.csv:2: a quote is not closed", InputError);
  CHECK_THROWS_AS(parse_csv("\"a\"b", "f.csv"), InputError);
}

TEST_CASE("layer-table: times in the unit of their column, sizes from params or bytes") {
  const layers::Trace trace = import_text("name,params,fwd_us,bwd_ms,dtype\n"
                                          "conv1,9408,1500,3.5,\n"
                                          "fc,100,2,0,float16\n");
  REQUIRE(trace.layers.size() == 2);
  CHECK(trace.name == "layers");
  CHECK(trace.layers[0].name == "conv1");
  CHECK(trace.layers[0].forward->value == 1500e-6);
  CHECK(trace.layers[0].backward->value == 3.5e-3);
  CHECK(trace.layers[0].gradient_bytes->value == 4 * 9408);
  CHECK(trace.layers[1].gradient_bytes->value == 2 * 100);
  CHECK(trace.layers[1].tensors.front().dtype == "float16");
  CHECK(trace.provenance == layers::Provenance::imported);
  const layers::Trace bytes = import_text("forward_s\tbackward_s\tbytes\tname\n1\t2\t30\ta\n");
  CHECK(bytes.layers[0].gradient_bytes->value == 30);
  CHECK(bytes.layers[0].forward->value == 1);
}

TEST_CASE("layer-table: tensors as elements in registration order, or as their number") {
  const layers::Trace trace = import_text("name,params,fwd_s,bwd_s,tensors\n"
                                          "a,30,1,1,20;10\nb,30,1,1,2\nc,30,1,1,\nd,0,1,1,\n");
  REQUIRE(trace.layers[0].tensors.size() == 2);
  CHECK(trace.layers[0].tensors[0].elements == 10); // ready order: the last registered first
  CHECK(trace.layers[0].tensors[1].elements == 20);
  CHECK(trace.layers[1].tensors.empty()); // two of unknown sizes
  CHECK(trace.layers[2].tensors.size() == 1);
  CHECK(trace.layers[3].tensors.empty());
}

TEST_CASE("layer-table: what bad tables get") {
  const std::string header = "name,params,bytes,fwd_us,bwd_us\n";
  CHECK(failure("name,params,fwd_usec,bwd_us\n") ==
        ":1: unknown column fwd_usec, did you mean fwd_us?\n");
  CHECK(failure("name,params,fwd_us,fwd_ms\n") == ":1: columns fwd_us and fwd_ms say the same\n");
  CHECK(failure("params,fwd_us,bwd_us\n") == ":1: missing column: name\n");
  CHECK(failure("name,fwd_us,bwd_us\n") == ":1: missing column: params or bytes\n");
  CHECK(failure("name,bytes,bwd_us\n") ==
        ":1: missing column: a forward time (fwd_s, fwd_ms, fwd_us)\n");
  CHECK(failure(header) == ": no layer rows found\n");
  CHECK(failure("# only\n") == ": no header row\n");
  CHECK(failure(header + "a,30,100,1,1\n") == ":2: bytes 100 but params 30 x 4\n");
  CHECK(failure(header + "a,30,120,1,\"1,2\"\n") == ":2: bwd_us: not a number: \"1,2\"\n");
  CHECK(failure(header + "a,,,1,1\n") == ":2: give params or bytes\n");
  CHECK(failure(header + "a,1.5,,1,1\n") == ":2: params: not a whole number: \"1.5\"\n");
  CHECK(failure(header + "a,1,,-1,1\n") == ":2: fwd_us: must be >= 0, got -1\n");
  CHECK(failure(header + "a,1,,inf,1\n") == ":2: fwd_us: not a number: \"inf\"\n");
  CHECK(failure(header + "a,1,,1\n") == ":2: expected 5 fields, got 4\n");
  CHECK(failure(header + ",1,,1,1\n") == ":2: name: required\n");
  CHECK(failure("name,params,fwd_us,bwd_us,dtype\na,1,1,1,flot32\n") ==
        ":2: dtype: unknown type flot32, did you mean float32?\n");
  CHECK(failure("name,params,fwd_us,bwd_us,tensors\na,30,1,1,20;5\n") ==
        ":2: tensors: 100 bytes, the layer has 120\n");
  // All rows are judged.
  CHECK(failure(header + "a,x,,1,1\nb,1,,1,1\nc,1,,y,1\n") ==
        ":2: params: not a whole number: \"x\"\n:4: fwd_us: not a number: \"y\"\n");
}
