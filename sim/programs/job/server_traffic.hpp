#pragma once
// The messages of a job with synchronous parameter servers (PKT 7.2). Every piece is cut into one
// part per server of S (with JobServers::whole, piece p is one part, at server p mod S): the W
// workers push their gradients of the part, the server adds them, and the workers pull the sum.
// Messages wait in two lists per worker, its pushes and the pulls to it, and are sent
//   FIFO        as soon as they are in the list
//   by layer    the smallest (first layer, ready time, exchange, server) first, while fewer than
//               credit_bytes of the list are in flight
// A server works on one part after the other. When all pushes of a part have arrived, it adds them
// in pushes x bytes x add_s_per_byte (COL 5.10) and then encodes the sum in bytes x
// encode_s_per_byte. A server that is also a worker (not dedicated) adds W - 1 pushes.
#include <functional>

#include "programs/job/inner_links.hpp"
#include "programs/job/network_job.hpp"

namespace stepsim::programs {

// The servers of a job: what ranks they are, when their additions end, and the inner links of
// hosts.
class ServerSide {
public:
  // The time of the next end of an addition or on an inner link; infinity if there is none.
  [[nodiscard]] double next_time() const;
  [[nodiscard]] std::uint64_t events() const { return events_; }

protected:
  // `job` must have servers and outlive the object.
  explicit ServerSide(const NetworkJob& job);
  // Bytes of a tensor of `bytes` that one server holds: even parts in whole values, the first ones
  // a value longer.
  [[nodiscard]] std::int64_t even_part(std::int64_t bytes, std::uint32_t server) const;
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t server) const {
    return dedicated_ ? job_.workers + server : server;
  }
  [[nodiscard]] std::uint32_t server_at(std::uint32_t rank) const {
    return dedicated_ ? rank - job_.workers : rank;
  }
  [[nodiscard]] bool on_one_host(std::uint32_t worker, std::uint32_t server) const {
    return job_.hosts[worker] == job_.hosts[rank_of(server)];
  }
  // Sends a part that stays on its host over the inner link; false where it takes no time, as if
  // the worker is the server.
  [[nodiscard]] bool send_near(double now, const InnerLinks::Part& part, std::int64_t bytes,
                               double stretch = 1);

  const NetworkJob& job_;
  const JobServers& spec_;
  std::uint32_t servers_;
  bool dedicated_;
  std::vector<double> adder_free_s_;     // [server]: when its earlier additions end
  events::EventQueue<double> additions_; // ends of additions
  std::unique_ptr<InnerLinks> inner_;    // none where no part takes one
  std::uint64_t events_ = 0;
};

class ServerTraffic : public ServerSide {
public:
  struct Received { // a worker has all parts of the sum of an exchange
    std::uint32_t worker{}, exchange{};
    std::int64_t iteration{};
  };

  // piece_of[x] is what exchange x of an iteration sends. `job` must have servers and outlive the
  // object.
  ServerTraffic(const NetworkJob& job, std::vector<std::uint32_t> piece_of);

  // Processes all ends of additions until `now`.
  void advance(double now);
  // A worker has the gradients of the exchange, and its sum of the iteration before. Transfers and
  // additions take `stretch` times as long, the same for all workers.
  void push(double now, std::uint32_t worker, std::uint32_t exchange, std::int64_t iteration,
            double stretch);
  // Tells the job that a message of send() has arrived.
  void delivered(double now, const JobMessage& message);
  // Appends the messages that are passed to the network now.
  void send(double now, std::vector<JobMessage>& messages);
  // What has been received since the owner last emptied the list.
  [[nodiscard]] std::vector<Received>& received() { return received_; }

private:
  struct Waiting {         // a message in a list; the smallest is sent first
    std::uint32_t layer{}; // first layer of the piece with by_layer, else 0
    double ready_s{};
    std::uint32_t exchange{}, server{};
    std::int64_t iteration{}, bytes{};
    double stretch{};
    [[nodiscard]] auto operator<=>(const Waiting&) const = default;
  };
  struct List {
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    double outstanding = 0; // bytes in flight
    bool touched = false;   // whether the list is in touched_
  };
  struct Progress { // of an exchange by a worker
    std::uint32_t missing_parts = 0;
    std::int64_t iteration = 0;
  };
  [[nodiscard]] std::int64_t part_bytes(std::uint32_t exchange, std::uint32_t server) const;
  void hand_near(double now, const InnerLinks::Part& part);
  void take_near(double now, const InnerLinks::Part& part);
  [[nodiscard]] std::size_t part_of(std::uint32_t exchange, std::uint32_t server) const {
    return std::size_t{exchange} * servers_ + server;
  }
  void arrived(double now, std::uint32_t exchange, std::uint32_t server);
  void pull(double now, std::uint32_t exchange, std::uint32_t server);
  void part_received(std::uint32_t worker, std::uint32_t exchange);
  void wait(std::size_t list, Waiting waiting);
  void touch(std::size_t list);

  std::vector<std::uint32_t> piece_of_;  // [exchange]
  std::vector<double> stretch_;          // [exchange], in the iteration of its last push
  std::vector<List> lists_;              // [worker]: its pushes; [W + worker]: the pulls to it
  std::vector<std::size_t> touched_;     // lists that have changed since send()
  std::vector<std::uint32_t> arrivals_;  // [part]: number of pushes that have arrived
  std::vector<Progress> progress_;       // [worker x exchanges + exchange]
  std::vector<std::int64_t> iterations_; // [part]: iteration of its pushes
  std::vector<Received> received_;
};

} // namespace stepsim::programs
