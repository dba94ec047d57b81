#include "study/sweep/grid.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "base/error.hpp"

using namespace stepsim;
using study::Shard;

namespace {

std::vector<std::int64_t> points_of(const Shard& shard, std::int64_t total) {
  std::vector<std::int64_t> points;
  for (std::int64_t i = 0; i < shard.points(total); ++i) {
    points.push_back(shard.point(i));
  }
  return points;
}

using Environment = std::map<std::string, std::string>;

Shard shard_of(const Environment& variables) {
  return study::shard_from_environment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

Environment array_task(int id, int min, int max, int step, int count) {
  return {{"SLURM_ARRAY_TASK_ID", std::to_string(id)},
          {"SLURM_ARRAY_TASK_MIN", std::to_string(min)},
          {"SLURM_ARRAY_TASK_MAX", std::to_string(max)},
          {"SLURM_ARRAY_TASK_STEP", std::to_string(step)},
          {"SLURM_ARRAY_TASK_COUNT", std::to_string(count)}};
}

Environment with(Environment base, const Environment& more) {
  base.insert(more.begin(), more.end());
  return base;
}

} // namespace

TEST_CASE("shard: of 10 points, shard i/3 holds the points that leave the remainder i") {
  CHECK(points_of({0, 3}, 10) == std::vector<std::int64_t>{0, 3, 6, 9});
  CHECK(points_of({1, 3}, 10) == std::vector<std::int64_t>{1, 4, 7});
  CHECK(points_of({2, 3}, 10) == std::vector<std::int64_t>{2, 5, 8});
  CHECK(points_of({15, 16}, 10).empty());
  CHECK(points_of({9, 16}, 10) == std::vector<std::int64_t>{9});
  CHECK(points_of({0, 1}, 0).empty());
}

TEST_CASE("shard: INDEX/COUNT is read, anything else is refused with the allowed range") {
  CHECK(study::parse_shard("2/8") == Shard{2, 8});
  CHECK(study::parse_shard("0/1") == Shard{0, 1});
  CHECK_THROWS_WITH_AS((void)study::parse_shard("8/8"), "--shard 8/8: index must be 0..7",
                       UsageError);
  for (const char* text : {"", "/", "1", "1/", "/2", "-1/2", "a/2", "1/0", "1/2/3", "1 /2",
                           "99999999999999999999/2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS((void)study::parse_shard(text), UsageError);
  }
}

TEST_CASE("shard auto: a job array gives task (ID - MIN) / STEP of COUNT") {
  CHECK(shard_of(array_task(5, 3, 7, 2, 3)) == Shard{1, 3});
  CHECK(shard_of(array_task(0, 0, 7, 1, 8)) == Shard{0, 8});
}

TEST_CASE("shard auto: ranks of a step split each array task") {
  const auto rank = Environment{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};
  // a = 1, A = 3, s = 1, S = 2: a S + s = 3 of A S = 6.
  CHECK(shard_of(with(array_task(5, 3, 7, 2, 3), rank)) == Shard{3, 6});
}

TEST_CASE("shard auto: an irregular array, reported with step 1, is refused") {
  CHECK_THROWS_WITH_AS((void)shard_of(array_task(4, 1, 6, 1, 3)),
                       doctest::Contains("give --shard explicitly"), UsageError);
  CHECK_THROWS_AS((void)shard_of(array_task(4, 3, 7, 2, 3)), UsageError);
  CHECK_THROWS_AS((void)shard_of(array_task(4, 3, 7, 0, 3)), UsageError);
  auto incomplete = array_task(5, 3, 7, 2, 3);
  incomplete.erase("SLURM_ARRAY_TASK_COUNT");
  CHECK_THROWS_AS((void)shard_of(incomplete), UsageError);
}

TEST_CASE("shard auto: SLURM_NTASKS does not make a rank, because a batch script has it too") {
  CHECK_THROWS_AS((void)shard_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}), UsageError);
  CHECK_THROWS_AS((void)shard_of({}), UsageError);
}

TEST_CASE("shard auto: the launcher's rank and size, Open MPI's before PMI's before Slurm's") {
  const Environment open_mpi{{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
  const Environment pmi{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}};
  const Environment slurm{{"SLURM_PROCID", "4"}, {"SLURM_STEP_NUM_TASKS", "5"}};
  CHECK(shard_of(with(with(open_mpi, pmi), slurm)) == Shard{3, 4});
  CHECK(shard_of(with(pmi, slurm)) == Shard{1, 2});
  CHECK(shard_of(slurm) == Shard{4, 5});
  CHECK_THROWS_AS((void)shard_of({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), UsageError);
}

TEST_CASE("shard: output names of several shards never coincide") {
  CHECK(study::shard_file_name("out.jsonl", {0, 1}) == "out.jsonl");
  CHECK(study::shard_file_name("out.jsonl", {2, 8}) == "out.shard-2-of-8.jsonl");
  CHECK(study::shard_file_name("a.b/out", {2, 8}) == "a.b/out.shard-2-of-8");
  CHECK(study::shard_file_name("a/.out", {2, 8}) == "a/.out.shard-2-of-8");
  CHECK(study::shard_file_name("r/{shard}.csv", {2, 8}) == "r/2-of-8.csv");
  CHECK(study::shard_file_name("r/{shard}.csv", {0, 1}) == "r/0-of-1.csv");
  CHECK(study::shard_file_name("-", {2, 8}) == "-");
}
