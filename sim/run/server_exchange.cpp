// The last stage of the compressed exchange is the one with the servers; what comes before it is
// among workers. Both are taken from `compressed_exchange`, so that bytes and codec times are those
// of every other run.

#include "run/server_exchange.hpp"

#include <utility>

#include "collectives/compress/compressed_exchange.hpp"
#include "run/bucket_cost.hpp"
#include "run/planned_messages.hpp"
#include "run/run.hpp"

namespace stepsim::study {

ServerExchange server_exchange(const Scenario& scenario) {
  const collectives::Compression& compression = scenario.communication.compression;
  const buckets::Group all = all_gradients(scenario);
  const auto bytes = static_cast<double>(all.bytes.value);
  collectives::CompressedExchange exchange = collectives::compressed_exchange(
      compression, gradient_part(scenario, all), exchange_of(scenario));
  ServerExchange result;
  // Nothing is exchanged, as with one worker.
  if (exchange.stages.empty()) {
    return result;
  }
  result.server = std::move(exchange.stages.back().collective);
  exchange.stages.pop_back();
  for (collectives::ExchangeStage& stage : exchange.stages) {
    result.before.push_back(std::move(stage.collective));
  }
  const collectives::Options& options = result.server.options;
  // Sharded servers are one on every worker, whatever the number in the options.
  const bool sharded = options.placement == collectives::Placement::sharded;
  result.servers = sharded ? result.server.ranks : options.servers;
  result.encode_s = exchange.fixed_s * result.servers;
  const CodecTimes codec = codec_times(scenario, bytes);
  result.codec_s = codec.encode_s + codec.decode_s;
  const buckets::LinearCost extra = extra_cost(scenario);
  result.extra_s = extra.startup_s + extra.per_byte_s * bytes + copy_seconds(scenario, all);
  return result;
}

} // namespace stepsim::study
