// What the ranks of a job decide and do, without MPI: the functions of the job are played.
#include <doctest/doctest.h>

#include <algorithm>

#include "calibrate/cuda/gpu_fit.hpp"
#include "calibrate/cuda/gpu_job.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::calibrate;
using namespace stepsim::calibrate::gpu;
using stepsim::testing::within;

namespace {

// A rank of a job in which rank i says texts[i].
Job rank_of(std::uint32_t rank, std::vector<std::uint32_t> hosts, std::vector<std::string> texts) {
  Job job;
  job.rank = rank;
  job.ranks = static_cast<std::uint32_t>(hosts.size());
  job.host_of = std::move(hosts);
  job.gather = [texts, rank](const std::string& mine) {
    CHECK(mine == texts[rank]);
    return texts;
  };
  return job;
}

using Devices = std::vector<std::optional<int>>;

} // namespace

TEST_CASE("job: ranks of a host take the first GPU that is free, whichever of them they see") {
  CHECK(take_devices({{"a", "b"}, {"a", "b"}}) == Devices{0, 1});
  CHECK(take_devices({{"a"}, {"b"}, {"c"}}) == Devices{0, 0, 0});
  CHECK(take_devices({{"a", "b"}, {"a", "b"}, {"c"}}) == Devices{0, 1, 0});
  CHECK(take_devices({{"b", "a"}, {"a", "b"}}) == Devices{0, 0});
  CHECK(take_devices({{"a"}, {"a"}}) == Devices{0, std::nullopt});
  CHECK(take_devices({}).empty());
}

TEST_CASE("job: the GPU of a rank depends on its host alone, and all ranks refuse together") {
  const std::vector<std::string> both{"a\nb", "a\nb", "a\nb", "a\nb"};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    CHECK(device_of_rank(rank_of(rank, {0, 0, 1, 1}, both), {"a", "b"}) ==
          static_cast<int>(rank % 2));
    CHECK(device_of_rank(rank_of(rank, {0, 1, 0, 1}, both), {"a", "b"}) ==
          static_cast<int>(rank / 2));
    CHECK_THROWS_WITH_AS(
        (void)device_of_rank(rank_of(rank, {0, 1, 1, 1}, both), {"a", "b"}),
        "host 1 has 3 ranks and 2 GPUs: start one rank per GPU (mpirun --map-by ppr:2:node, srun "
        "--ntasks-per-node or torchrun --nproc_per_node 2)",
        UsageError);
  }
  CHECK_THROWS_WITH_AS((void)device_of_rank(rank_of(0, {0, 1}, {"a", ""}), {"a"}),
                       "rank 1 (host 1): no CUDA device", NotAvailable);
}

TEST_CASE("job: a failure of one rank is the same error on all") {
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const std::vector<std::string> texts{"", "lost", ""};
    CHECK(first_error(rank_of(rank, {0, 0, 1}, texts), texts[rank]) == "rank 1 (host 0): lost");
    const std::vector<std::string> two{"", "lost", "late"};
    CHECK_THROWS_WITH_AS(throw_if_any(rank_of(rank, {0, 0, 1}, two), two[rank]),
                         "rank 1 (host 0): lost (and on 1 more of 3 ranks)", JobError);
    const std::vector<std::string> none{"", "", ""};
    CHECK_NOTHROW(throw_if_any(rank_of(rank, {0, 0, 1}, none), ""));
  }
  CHECK_NOTHROW(throw_if_any(kAlone, ""));
  CHECK_THROWS_WITH_AS(throw_if_any(kAlone, "lost"), "lost", JobError);
}

TEST_CASE("job: pairs of ranks on different hosts are the network, however fast they are") {
  const std::vector<std::uint32_t> hosts{0, 0, 1, 1};
  std::string text;
  Header header;
  header.ranks = 4;
  header.hosts = hosts;
  DeviceFacts device;
  device.name = "played \"GPU\"";
  header.device_of_rank.assign(4, text_of(device));
  text += line(header);
  for (std::uint32_t src = 0; src < 4; ++src) {
    for (std::uint32_t dst = 0; dst < 4; ++dst) {
      const bool apart = hosts[src] != hosts[dst];
      const double per_byte_s = apart ? 1 / 200e9 : 1 / 300e9;
      for (const char* kind : {"one_way", "pingpong", "exchange"}) {
        const std::int64_t bytes = kind == std::string("pingpong") ? 4 : 1 << 26;
        if (src != dst && (src < dst || kind == std::string("one_way"))) {
          text +=
              line(PairRecord{kind,
                              "nccl",
                              "plain",
                              src,
                              dst,
                              bytes,
                              0,
                              1,
                              {(apart ? 5e-6 : 2e-6) + per_byte_s * static_cast<double>(bytes)}},
                   false);
        }
      }
    }
  }
  for (const std::int64_t bytes : {1024, 2048}) {
    CollectiveRecord record;
    record.op = "allreduce";
    record.algorithm = record.variant = "nccl";
    record.launch = "plain";
    record.ranks = 4;
    record.bytes = bytes;
    record.time_s = {1e-5, 1.1e-5};
    text += line(record, false);
    record.dtype = "bfloat16"; // the model of the library knows float alone
    record.time_s = {2e-5};
    text += line(record, false);
  }
  const GpuSamples samples = parse_gpu_samples(text, "j.jsonl");
  CHECK(samples.hosts == hosts);
  CHECK(samples.devices == 4);
  CHECK(samples.device == "played \"GPU\"");
  const GpuFit fit = fit_gpu(samples, {});
  REQUIRE(fit.links.size() == 2);
  CHECK(fit.links[0].link_class == "nvlink");
  CHECK(fit.links[0].pairs == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {2, 3}});
  CHECK(fit.links[1].link_class == "network");
  CHECK(fit.links[1].pairs.size() == 4);
  CHECK(1 / fit.links[1].per_byte_s == within(200e9, 0.02));

  REQUIRE(fit.curves.size() == 2);
  CHECK(fit.curves[0].group.dtype == "float");
  CHECK(fit.curves[0].group.points[0].time_s == within(1.05e-5, 1e-12));
  CHECK(fit.curves[1].group.dtype == "bfloat16");
  CHECK(fit.curves[1].group.points[0].time_s == within(2e-5, 1e-12));

  const io::Samples nccl = nccl_samples(samples);
  REQUIRE(nccl.sets.size() == 1);
  CHECK(nccl.sets[0].op == "allreduce");
  CHECK(nccl.sets[0].ranks == 4);
  CHECK(nccl.sets[0].gpus_per_node == 2);
  CHECK(nccl.sets[0].samples.size() == 4);
}

TEST_CASE("job: hosts with different numbers of ranks have no number of GPUs per host") {
  Header header;
  header.ranks = 3;
  header.hosts = {0, 0, 1};
  CollectiveRecord record;
  record.op = "allreduce";
  record.algorithm = record.variant = "nccl";
  record.launch = "plain";
  record.ranks = 3;
  record.bytes = 4;
  record.time_s = {1e-5};
  const io::Samples nccl =
      nccl_samples(parse_gpu_samples(line(header) + line(record, false), "j.jsonl"));
  REQUIRE(nccl.sets.size() == 1);
  CHECK(!nccl.sets[0].gpus_per_node);
  header.hosts = {0, 0};
  CHECK_THROWS_WITH_AS((void)parse_gpu_samples(line(header), "j.jsonl"),
                       "j.jsonl:1: hosts must have one number per rank", InputError);
}
