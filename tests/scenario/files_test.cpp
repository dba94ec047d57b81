#include "scenario/files.hpp"

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "document/json_text.hpp"
#include "document/sha256.hpp"
#include "scenario/file_names.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using study::file_kind_at;
using study::FileKind;

TEST_CASE("files: the keys that name files are known in scenarios, jobs, flows and problems") {
  CHECK(file_kind_at("/workload/trace") == FileKind::trace);
  CHECK(file_kind_at("/workload/0/trace") == FileKind::trace);
  CHECK(file_kind_at("/workload/12/model") == FileKind::model);
  CHECK(file_kind_at("/workload/model") == FileKind::model);
  CHECK(file_kind_at("/cluster/network/calibration") == FileKind::profile);
  CHECK(file_kind_at("/cluster/network/cost") == FileKind::cost);
  CHECK(file_kind_at("/cost") == FileKind::cost);
  CHECK(file_kind_at("/cluster/topology/file") == FileKind::topology);
  CHECK(file_kind_at("/cluster/topology") == FileKind::topology);
  CHECK(file_kind_at("/topology") == FileKind::topology);
  CHECK(file_kind_at("/workload/x/trace") == FileKind::none);
  CHECK(file_kind_at("/cluster/nodes") == FileKind::none);
  CHECK(file_kind_at("") == FileKind::none);
}

TEST_CASE("files: the digest is of the content, not of its place or its blanks") {
  const test::Folder folder("digest");
  const auto digest = [](const std::string& path) {
    study::Files files("");
    return files.digest(io::Json(path), "/workload/trace");
  };
  test::write_text(folder.file("a.json"), R"({"b": 1, "a": [1, 2]})");
  test::write_text(folder.file("b.json"), "{\n  \"a\": [1,2],\n  \"b\": 1}");
  test::write_text(folder.file("c.json"), R"({"b": 1, "a": [1, 3]})");
  CHECK(digest(folder.file("a.json")) == digest(folder.file("b.json")));
  CHECK(digest(folder.file("a.json")) != digest(folder.file("c.json")));
}

TEST_CASE("files: a file that changes between two readings is an error") {
  const test::Folder folder("changes");
  const std::string path = folder.file("c.json");
  const auto write = [&](const std::string& latency) {
    test::write_text(path, R"({"kind": "topology", "name": "n", "preset": "star", "hosts": 4,
        "bandwidth_Bps": 1e9, "latency_s": )" +
                               latency + "}");
  };
  write("1e-6");
  study::Files files("");
  (void)files.digest(io::Json(path), "/cluster/topology");
  write("2e-6");
  CHECK_THROWS_WITH_AS((void)files.topology(io::Json(path)),
                       doctest::Contains("has changed since it was read first"), InputError);
}

TEST_CASE("files: a file is read once, and its SHA-256 is of the bytes that were used") {
  const test::Folder folder("once");
  const std::string path = folder.file("c.json");
  const std::string used = R"({"kind": "topology", "name": "n", "preset": "star", "hosts": 4,
      "bandwidth_Bps": 1e9, "latency_s": 1e-6}
)";
  test::write_text(path, used);
  study::Files files("");
  (void)files.topology(io::Json(path));
  test::write_text(path, "{}");
  CHECK(files.sha256(io::Json(path), "/cluster/topology") == io::sha256(used));
}

TEST_CASE("files: an output is refused as an input") {
  const test::Folder folder("output");
  test::write_text(folder.file("t.json"), "{}");
  study::Files files("", {folder.file("./t.json")});
  CHECK_THROWS_WITH_AS((void)files.trace(io::Json(folder.file("t.json"))),
                       doctest::Contains("is an input too"), UsageError);
}

TEST_CASE("files: a data folder that cannot be read is an error, none at all has no files") {
  CHECK(study::shipped_files("", study::kShippedModels).empty());
  CHECK_THROWS_WITH_AS((void)study::shipped_files("/nowhere", study::kShippedModels),
                       doctest::Contains("/nowhere/models: cannot read the folder of the models"),
                       InputError);
}

TEST_CASE("files: a profile that was renamed is read by its former name, with a word about it") {
  const std::string root = STEPSIM_SOURCE_DIR;
  const auto path = [&](const std::string& name) {
    return study::shipped_file(root, study::kShippedProfiles, name);
  };
  CHECK(path("10gbe") == path("10g-tcp"));
  CHECK(path("infiniband-400g") == root + "/topologies/400g-ib.calibration.json");
  std::string name = "100gbe";
  std::vector<std::string> warnings;
  study::renew_name(name, warnings);
  CHECK(name == "100g-roce");
  study::renew_name(name, warnings);
  CHECK(warnings.size() == 1);
  CHECK(warnings.front().find("100gbe is called 100g-roce now") != std::string::npos);
  // A part of a former name finds its family by the present names.
  CHECK_THROWS_WITH_AS((void)path("roce"), doctest::Contains("25g-roce"), UsageError);
  CHECK_THROWS_WITH_AS((void)path("100g"),
                       doctest::Contains("\"100g-ib\", \"100g-roce\" or \"100g-tcp\""), UsageError);
}

TEST_CASE("files: the file with the shares of a node type is an input of its own") {
  const test::Folder folder("shares");
  test::write_text(folder.file("box.json"), R"({"kind": "node_preset", "name": "box",
      "gpus_per_node": 4, "link_nominal_Bps": 2e10, "nics_per_node": 1, "nic_nominal_Bps": 1e10,
      "generation": "volta", "of_nominal": "fit.json"})");
  const io::Json scenario =
      io::Object{{"cluster", io::Object{{"preset", folder.file("box.json")}}}};
  const io::Json& name = *io::resolve(scenario, "/cluster/preset");
  const auto with_share = [&](const std::string& share) {
    test::write_text(folder.file("fit.json"),
                     R"({"kind": "library_calibration", "of_nominal": {"link": )" + share +
                         R"(, "nic": 0.5}})");
    return study::Files("").digest(name, "/cluster/preset");
  };
  CHECK(with_share("0.25") != with_share("0.5"));

  study::Files files("");
  const std::vector<study::NamedFile> named = study::named_files(scenario, files);
  REQUIRE(named.size() == 2);
  CHECK(named[1].pointer == "/cluster/preset/of_nominal");
  CHECK(named[1].sha256 == io::sha256_of_file(folder.file("fit.json")));
  const io::Json recorded =
      io::Array{io::Object{{"pointer", named[1].pointer}, {"sha256", named[1].sha256}}};
  CHECK(study::changed_files(recorded, scenario, scenario, files).empty());
  (void)with_share("0.75");
  study::Files later("");
  CHECK(study::changed_files(recorded, scenario, scenario, later).size() == 1);
}
