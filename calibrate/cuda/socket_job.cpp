// A message is its length and its bytes; two lengths that no message has are marks. A thread looks
// for connections that the other side has closed, so that a rank which waits in NCCL for one that
// has ended, ends as well.
#include "calibrate/cuda/socket_job.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace stepsim::calibrate::gpu {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kReported = 0xffff'ffff; // this rank has reported an error and ends
constexpr std::uint32_t kDone = 0xffff'fffe;     // this rank ends because all is done
constexpr std::uint32_t kMostText = 1U << 26;    // of a message
constexpr auto kBetweenTries = std::chrono::milliseconds(50);
constexpr auto kForText = std::chrono::seconds(2);

// The first bytes of a connection: others than ours are closed again.
struct Hello {
  std::array<char, 8> word{'s', 't', 'e', 'p', 's', 'i', 'm', '1'};
  std::uint32_t rank{}, ranks{};
};

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') {
    throw UsageError(std::string(name) +
                     ": not set; --torchrun needs RANK, WORLD_SIZE, LOCAL_RANK, "
                     "MASTER_ADDR and MASTER_PORT, as torchrun sets them");
  }
  return text;
}

std::uint32_t number(const char* name, std::uint32_t least, std::uint32_t most) {
  const std::string text = variable(name);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError(std::string(name) + ": must be a whole number from " + std::to_string(least) +
                     " to " + std::to_string(most) + ", got '" + text + "'");
  }
  return value;
}

// Moves all bytes by calls that may move fewer; false where the connection ends before.
bool move_all(auto call, int socket, auto* at, std::size_t bytes, int flags) {
  while (bytes > 0) {
    const ssize_t done = call(socket, at, bytes, flags);
    if (done == 0 || (done < 0 && errno != EINTR)) {
      return false;
    }
    at += std::max<ssize_t>(done, 0);
    bytes -= static_cast<std::size_t>(std::max<ssize_t>(done, 0));
  }
  return true;
}
bool write_all(int socket, const void* data, std::size_t bytes) {
  return move_all(::send, socket, static_cast<const char*>(data), bytes, MSG_NOSIGNAL);
}
bool read_all(int socket, void* data, std::size_t bytes) {
  return move_all(::recv, socket, static_cast<char*>(data), bytes, 0);
}

void set_option(int socket, int level, int name, const auto& value) {
  (void)setsockopt(socket, level, name, &value, sizeof value);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;
Addresses addresses_of(const ProcessPlace& place) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(place.address.c_str(), std::to_string(place.port).c_str(), &hints, &found);
  if (error != 0) {
    throw UsageError("MASTER_ADDR: " + place.address + ": " + gai_strerror(error));
  }
  return {found, &freeaddrinfo};
}

// On any address of this host: the name of the master may be one that only others use.
int listening(const ProcessPlace& place) {
  const Addresses found = addresses_of(place);
  sockaddr_storage any{};
  std::memcpy(&any, found->ai_addr, found->ai_addrlen);
  if (found->ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&any)->sin6_addr = in6addr_any;
  } else {
    reinterpret_cast<sockaddr_in*>(&any)->sin_addr.s_addr = INADDR_ANY;
  }
  const int socket = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(socket, reinterpret_cast<const sockaddr*>(&any), found->ai_addrlen) != 0 ||
      listen(socket, SOMAXCONN) != 0) {
    const std::string reason = std::strerror(errno);
    close(socket);
    throw SimulationError("port " + std::to_string(place.port) + " of MASTER_PORT: " + reason);
  }
  return socket;
}

[[noreturn]] void wait_for_other_thread() {
  for (;;) {
    std::this_thread::sleep_for(kBetweenTries);
  }
}

} // namespace

ProcessPlace place_of_process() {
  constexpr std::uint32_t kMostRanks = 1U << 20;
  ProcessPlace place;
  place.ranks = number("WORLD_SIZE", 2, kMostRanks);
  place.rank = number("RANK", 0, place.ranks - 1);
  place.local_rank = number("LOCAL_RANK", 0, place.rank);
  place.address = variable("MASTER_ADDR");
  const char* agent = std::getenv("TORCHELASTIC_USE_AGENT_STORE");
  const std::uint32_t next = agent != nullptr && std::strcmp(agent, "True") == 0 ? 1 : 0;
  place.port = static_cast<std::uint16_t>(number("MASTER_PORT", 1, 65535 - next) + next);
  return place;
}

SocketGroup::SocketGroup(const ProcessPlace& place, double timeout_s)
    : rank_(place.rank), ranks_(place.ranks), sockets_(place.ranks, -1) {
  try {
    rank_ == 0 ? listen_at(place, timeout_s) : connect_to(place, timeout_s);
  } catch (...) {
    end_connections(kReported);
    throw;
  }
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

SocketGroup::~SocketGroup() {
  watcher_.request_stop();
  watcher_.join();
  end_connections(kDone);
}

void SocketGroup::listen_at(const ProcessPlace& place, double timeout_s) {
  const int door = listening(place);
  const auto end = Clock::now() + std::chrono::duration<double>(timeout_s);
  std::string problem;
  for (std::uint32_t missing = ranks_ - 1; missing > 0 && problem.empty();) {
    pollfd one{door, POLLIN, 0};
    if (poll(&one, 1, 50) <= 0) {
      if (Clock::now() < end) {
        continue;
      }
      std::string names;
      for (std::uint32_t rank = 1; rank < ranks_; ++rank) {
        names += sockets_[rank] < 0 ? (names.empty() ? "" : ", ") + std::to_string(rank) : "";
      }
      close(door);
      throw SimulationError("after " + std::to_string(static_cast<long>(timeout_s)) +
                            " s rank(s) " + names + " have not come");
    }
    const int socket = accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
    Hello hello;
    const Hello ours;
    set_option(socket, SOL_SOCKET, SO_RCVTIMEO, timeval{1, 0}); // s, of a read
    if (socket < 0 || !read_all(socket, &hello, sizeof hello) || hello.word != ours.word) {
      close(socket);
      continue;
    }
    set_option(socket, SOL_SOCKET, SO_RCVTIMEO, timeval{0, 0}); // no limit
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    if (hello.ranks != ranks_ || hello.rank == 0 || hello.rank >= ranks_) {
      problem = "rank " + std::to_string(hello.rank) + " has WORLD_SIZE " +
                std::to_string(hello.ranks) + ", rank 0 has " + std::to_string(ranks_);
    } else if (sockets_[hello.rank] >= 0) {
      problem = "two processes have RANK " + std::to_string(hello.rank);
    }
    (problem.empty() ? sockets_[hello.rank] : sockets_[0]) = socket;
    missing -= 1;
  }
  close(door);
  if (!problem.empty()) {
    throw UsageError(problem);
  }
}

void SocketGroup::connect_to(const ProcessPlace& place, double timeout_s) {
  const Addresses found = addresses_of(place);
  const auto end = Clock::now() + std::chrono::duration<double>(timeout_s);
  std::string reason;
  while (Clock::now() < end) {
    for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
      const int socket = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (socket >= 0 && connect(socket, each->ai_addr, each->ai_addrlen) == 0) {
        Hello hello;
        hello.rank = rank_;
        hello.ranks = ranks_;
        set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
        if (write_all(socket, &hello, sizeof hello)) {
          sockets_[0] = socket;
          return;
        }
      }
      reason = std::strerror(errno);
      close(socket);
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
  throw SimulationError("rank " + std::to_string(rank_) + ": no rank 0 at " + place.address + ":" +
                        std::to_string(place.port) + ": " + reason);
}

void SocketGroup::watch(const std::stop_token& stop) {
  std::vector<bool> finished(ranks_, false);
  while (!stop.stop_requested()) {
    std::vector<pollfd> open;
    std::vector<std::uint32_t> peers;
    for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
      if (sockets_[peer] >= 0 && !finished[peer]) {
        open.push_back({sockets_[peer], POLLRDHUP, 0});
        peers.push_back(peer);
      }
    }
    (void)poll(open.data(), open.size(), 200);
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].revents != 0) { // what has arrived ends with the last word of the peer
        std::vector<char> rest(std::size_t{1} << 20);
        std::uint32_t word = 0;
        const ssize_t bytes = recv(open[i].fd, rest.data(), rest.size(), MSG_PEEK | MSG_DONTWAIT);
        if (bytes >= static_cast<ssize_t>(sizeof word)) {
          std::memcpy(&word, &rest[static_cast<std::size_t>(bytes) - sizeof word], sizeof word);
        }
        if (word != kReported && word != kDone) {
          // The other thread may have read the last word, and ends the process then.
          std::this_thread::sleep_for(4 * kBetweenTries);
          if (fails_) {
            wait_for_other_thread();
          }
          std::fprintf(stderr, "error: rank %u: rank %u has ended\n", rank_, peers[i]);
        }
        if (word != kDone) {
          fail(1);
        }
        finished[peers[i]] = true;
      }
    }
  }
}

void SocketGroup::fail(int code) {
  if (fails_.exchange(true)) {
    wait_for_other_thread();
  }
  end_connections(kReported);
  std::fflush(nullptr);
  std::_Exit(code);
}

// The last word comes behind a text that is being sent, unless the other side has stopped reading.
void SocketGroup::end_connections(std::uint32_t word) {
  const std::unique_lock sending(sends_, kForText);
  for (const int socket : sockets_) {
    if (socket >= 0) {
      (void)write_all(socket, &word, sizeof word);
      (void)close(socket);
    }
  }
}

void SocketGroup::send(std::uint32_t peer, const std::string& text) {
  const auto bytes = static_cast<std::uint32_t>(text.size());
  std::unique_lock sending(sends_);
  if (fails_ || !write_all(sockets_[peer], &bytes, sizeof bytes) ||
      !write_all(sockets_[peer], text.data(), text.size())) {
    sending.unlock();
    wait_for_other_thread();
  }
}

std::string SocketGroup::receive(std::uint32_t peer) {
  std::uint32_t bytes = 1;
  const bool begun = read_all(sockets_[peer], &bytes, sizeof bytes);
  if (begun && bytes == kReported) {
    fail(1);
  }
  std::string text(begun && bytes <= kMostText ? bytes : 0, '\0');
  if (text.size() != bytes || !read_all(sockets_[peer], text.data(), text.size())) {
    wait_for_other_thread();
  }
  return text;
}

// Rank 0 collects the texts, and sends all of them to all as one, with a length before each.
std::vector<std::string> SocketGroup::gather(const std::string& text) {
  std::vector<std::string> texts{text};
  std::string all;
  if (rank_ == 0) {
    for (std::uint32_t peer = 1; peer < ranks_; ++peer) {
      texts.push_back(receive(peer));
    }
    for (const std::string& each : texts) {
      const auto bytes = static_cast<std::uint32_t>(each.size());
      all.append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(each);
    }
    for (std::uint32_t peer = 1; peer < ranks_; ++peer) {
      send(peer, all);
    }
    return texts;
  }
  send(0, text);
  all = receive(0);
  texts.clear();
  for (std::size_t at = 0; at < all.size();) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, &all[at], sizeof bytes);
    texts.push_back(all.substr(at + sizeof bytes, bytes));
    at += sizeof bytes + bytes;
  }
  return texts;
}

Job job_of(SocketGroup& group, std::uint32_t local_rank, Watchdog& watchdog) {
  Job job;
  job.rank = group.rank();
  job.ranks = group.ranks();
  job.host_of.clear();
  std::uint32_t next = 0;
  for (const std::string& text : group.gather(std::to_string(local_rank))) {
    const auto local = static_cast<std::uint32_t>(std::stoul(text));
    if (local != 0 && local != next) {
      throw UsageError("LOCAL_RANK of rank " + std::to_string(job.host_of.size()) +
                       ": must be 0 or " + std::to_string(next) +
                       ", one more than that of the rank before, got " + text);
    }
    job.host_of.push_back(job.host_of.empty() ? 0 : job.host_of.back() + (local == 0 ? 1 : 0));
    next = local + 1;
  }
  job.gather = [&group](const std::string& text) { return group.gather(text); };
  job.barrier = [&group] { (void)group.gather(""); };
  job.broadcast = [&group](void* data, std::size_t bytes) {
    const bool root = group.rank() == 0;
    const std::string mine = root ? std::string(static_cast<const char*>(data), bytes) : "";
    std::memcpy(data, group.gather(mine).front().data(), bytes);
  };
  job.largest = [&group](double value) {
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    for (const std::string& each : group.gather(text)) {
      double other = 0;
      std::memcpy(&other, each.data(), sizeof other);
      value = std::max(value, other);
    }
    return value;
  };
  job.begin = [&watchdog](const std::string& what) { watchdog.begin(what); };
  return job;
}

} // namespace stepsim::calibrate::gpu
