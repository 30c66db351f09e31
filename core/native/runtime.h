// The runtime of translated code: containers with the semantics of Python's, in an arena that is freed as a whole.
//
// Lists, dictionaries and sets are handles: assigning one does not copy it.  Dictionaries keep the order of insertion.
// Integers have 64 bits; an operation that overflows raises Fallback, and the caller continues in Python.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// INDEXPROOF_HOT marks functions that are called everywhere and take few instructions unless they allocate.
#if defined(__GNUC__)
#define INDEXPROOF_HOT inline __attribute__((always_inline))
#define INDEXPROOF_COLD __attribute__((noinline, cold))
#else
#define INDEXPROOF_HOT inline
#define INDEXPROOF_COLD
#endif

namespace indexproof {

using Int = std::int64_t;

// The input is not supported here: the caller continues in Python.
struct Fallback {};
[[noreturn]] INDEXPROOF_COLD inline void give_up() { throw Fallback{}; }

// ------------------------------------------------------------------------------------------------ memory
// All zero is the initial state, so that a thread_local arena needs no dynamic initialization.
class Arena {
 public:
  INDEXPROOF_HOT void* take(std::size_t n) {
    n = (n + 15) & ~std::size_t(15);
#ifdef __SANITIZE_ADDRESS__
    left_ = 0;  // a separate block for each allocation, whose bounds the sanitizer checks
#endif
    if (n > left_) grow(n);
    char* p = at_;
    at_ += n;
    left_ -= n;
    return p;
  }
  template <class T>
  T* array(std::size_t n) { return static_cast<T*>(take(n * sizeof(T))); }
  // Free all blocks but the first.
  void reset() {
    while (last_ && last_->before) release_last();
    at_ = last_ ? reinterpret_cast<char*>(last_ + 1) : nullptr;
    left_ = last_ ? last_->size : 0;
  }
  void release() {
    while (last_) release_last();
  }

 private:
  void release_last() {
    Block* b = last_;
    last_ = b->before;
    std::free(b);
  }
  struct alignas(16) Block { Block* before; std::size_t size; };
  INDEXPROOF_COLD void grow(std::size_t n) {
    std::size_t size = std::max(n, last_ ? last_->size * 2 : std::size_t(1) << 18);
#ifdef __SANITIZE_ADDRESS__
    size = n;
#endif
    auto* b = static_cast<Block*>(std::malloc(sizeof(Block) + size));
    if (!b) throw std::bad_alloc();
    *b = {last_, size};
    last_ = b;
    at_ = reinterpret_cast<char*>(b + 1);
    left_ = size;
  }
  Block* last_;
  char* at_;
  std::size_t left_;
};

inline thread_local Arena arena;

template <class T, class... A>
INDEXPROOF_HOT T* make(A&&... a) { return new (arena.take(sizeof(T))) T(std::forward<A>(a)...); }

// ------------------------------------------------------------------------------------------------ integers
inline Int add(Int a, Int b) { Int c; if (__builtin_add_overflow(a, b, &c)) give_up(); return c; }
inline Int sub(Int a, Int b) { Int c; if (__builtin_sub_overflow(a, b, &c)) give_up(); return c; }
inline Int mul(Int a, Int b) { Int c; if (__builtin_mul_overflow(a, b, &c)) give_up(); return c; }
inline Int neg(Int a) { return sub(0, a); }
inline Int p_abs(Int a) { return a < 0 ? neg(a) : a; }
inline Int floor_div(Int a, Int b) {
  if (b == 0 || b == -1) return b ? neg(a) : (give_up(), 0);
  Int q = a / b;
  return q - ((a % b != 0) & ((a < 0) != (b < 0)));
}
inline Int floor_mod(Int a, Int b) {
  if (b == 0 || b == -1) return b ? 0 : (give_up(), 0);
  Int r = a % b;
  return r && ((r < 0) != (b < 0)) ? r + b : r;
}
inline Int gcd(Int a, Int b) {
  a = p_abs(a);
  b = p_abs(b);
  while (b) { Int t = a % b; a = b; b = t; }
  return a;
}

// ------------------------------------------------------------------------------------------------ None
struct None {
  template <class T> operator T*() const { return nullptr; }
};
inline constexpr None none{};
struct Unit {
  Unit() = default;
  Unit(None) {}
  bool operator==(const Unit&) const { return true; }
};
// A call that applied a chosen rule, to be repeated for recording.
struct Again { virtual void call() const = 0; };
template <class F> INDEXPROOF_COLD const Again* remembered(F f) {
  struct Call : Again, F {
    explicit Call(F g) : F(g) {}
    void call() const override { (*this)(); }
  };
  return make<Call>(f);
}
struct Any {
  const Again* again = nullptr;
  Any() = default;
  template <class T> Any(const T&) {}
  bool operator==(const Any&) const { return true; }
};

// ------------------------------------------------------------------------------------------------ sums
struct Term { Int a, k; };
inline bool operator==(const Term& x, const Term& y) { return x.a == y.a && x.k == y.k; }
inline bool operator!=(const Term& x, const Term& y) { return !(x == y); }
inline bool operator<(const Term& x, const Term& y) { return x.a != y.a ? x.a < y.a : x.k < y.k; }
inline bool operator>(const Term& x, const Term& y) { return y < x; }

inline constexpr std::uint64_t SPREAD = 0x9e3779b97f4a7c15ull;
inline std::uint64_t mix(std::uint64_t h) {
  h *= SPREAD;
  return h ^ (h >> 32);
}

// The summands of a sum, interned, so that comparing and hashing are cheap.
struct TermsData { std::uint64_t hash; std::uint32_t n; Term t[1]; };
struct Terms {
  const TermsData* p = nullptr;
  Terms() = default;
  explicit Terms(const TermsData* q) : p(q) {}
  Int size() const { return p ? p->n : 0; }
  const Term* begin() const { return p ? p->t : nullptr; }
  const Term* end() const { return p ? p->t + p->n : nullptr; }
  const Term& operator[](Int i) const { return p->t[i < 0 ? i + p->n : i]; }
  bool operator==(const Terms& o) const { return p == o.p; }
  bool operator!=(const Terms& o) const { return p != o.p; }
  bool operator<(const Terms& o) const { return std::lexicographical_compare(begin(), end(), o.begin(), o.end()); }
};
struct Form {
  Int c = 0;
  Terms t;
  Form() = default;
  Form(Int c_, Terms t_) : c(c_), t(t_) {}
  bool operator==(const Form& o) const { return c == o.c && t == o.t; }
  bool operator!=(const Form& o) const { return !(*this == o); }
  bool operator<(const Form& o) const { return c != o.c ? c < o.c : t < o.t; }
};

class TermsTable {
 public:
  Terms find(const Term* t, std::size_t n) {
    if (!n) return {};
    if (n == 1 && t->k == 1 && std::uint64_t(t->a) < ATOMS) {
      // the forms of atoms are asked for most
      if (!atoms_) atoms_ = static_cast<const TermsData**>(std::memset(arena.take(ATOMS * sizeof(*atoms_)), 0, ATOMS * sizeof(*atoms_)));
      if (!atoms_[t->a]) atoms_[t->a] = made(t, 1, mix(std::uint64_t(t->a)));
      return Terms(atoms_[t->a]);
    }
    std::uint64_t h = n;
    for (std::size_t i = 0; i < n; i++) h = mix(h ^ (std::uint64_t(t[i].a) * 0xd6e8feb86659fd93ull + std::uint64_t(t[i].k)));
    if (!cap_) grow();
    for (std::size_t i = h & (cap_ - 1);; i = (i + 1) & (cap_ - 1)) {
      const TermsData* d = slots_[i];
      if (!d) {
        d = slots_[i] = made(t, n, h);
        if (++used_ * 2 > cap_) grow();
        return Terms(d);
      }
      if (d->hash == h && d->n == n && std::equal(t, t + n, d->t)) return Terms(d);
    }
  }
  void reset() { slots_ = atoms_ = nullptr; cap_ = used_ = 0; }

 private:
  static constexpr std::uint64_t ATOMS = 64;
  static const TermsData* made(const Term* t, std::size_t n, std::uint64_t h) {
    auto* d = static_cast<TermsData*>(arena.take(sizeof(TermsData) + (n - 1) * sizeof(Term)));
    d->hash = h;
    d->n = std::uint32_t(n);
    std::memcpy(d->t, t, n * sizeof(Term));
    return d;
  }
  void grow() {
    std::size_t cap = cap_ ? cap_ * 4 : 128;
    auto** slots = arena.array<const TermsData*>(cap);
    std::memset(slots, 0, cap * sizeof(*slots));
    for (std::size_t i = 0; i < cap_; i++)
      if (const TermsData* d = slots_[i]) {
        std::size_t j = d->hash & (cap - 1);
        while (slots[j]) j = (j + 1) & (cap - 1);
        slots[j] = d;
      }
    slots_ = slots;
    cap_ = cap;
  }
  const TermsData **slots_, **atoms_;
  std::size_t cap_, used_;
};
inline thread_local TermsTable terms_table;

// ------------------------------------------------------------------------------------------------ sorting
// Sort stably, without allocation for few items, the common case.
template <class T, class Less>
void sort_stably(T* b, T* e, Less less) {
  if (e - b > 16) return std::stable_sort(b, e, less);
  for (T* i = b; i < e; i++) {
    T x = *i;
    T* j = i;
    for (; j > b && less(x, j[-1]); j--) *j = j[-1];
    *j = x;
  }
}

// ------------------------------------------------------------------------------------------------ tuples
template <class... T> using Tuple = std::tuple<T...>;
inline Form mk(Int c, Terms t) { return {c, t}; }
inline Term mk(Int a, Int k) { return {a, k}; }
template <class... T> Tuple<std::decay_t<T>...> mk(T&&... t) { return Tuple<std::decay_t<T>...>(std::forward<T>(t)...); }

template <int I> decltype(auto) at(const Form& f) { if constexpr (I == 0) return (f.c); else return (f.t); }
template <int I> const Int& at(const Term& t) { if constexpr (I == 0) return t.a; else return t.k; }
template <int I, class... T> const auto& at(const Tuple<T...>& t) { return std::get<I>(t); }
template <int I, class A, class B> const auto& at(const std::pair<A, B>& t) { return std::get<I>(t); }

// ------------------------------------------------------------------------------------------------ lists
// Initial capacity: most lists and dictionaries are short, and touching memory costs time.
template <class T> inline constexpr std::int32_t few = sizeof(T) > 32 ? 1 : sizeof(T) > 16 ? 2 : 4;

// Storage in a stack frame for a container that does not outlive it; items beyond its capacity are in the arena.
template <class C> struct Room;
template <class R> R& here(R&& room) { return room; }
template <class T> inline constexpr std::int32_t many = sizeof(T) > 32 ? 4 : 8;

template <class T>
struct ListData { T* p = nullptr; std::int32_t n = 0, cap = 0; };

template <class T>
struct List {
  using value_type = T;
  ListData<T>* d = nullptr;
  List() = default;
  List(None) {}
  INDEXPROOF_HOT static List make() {
    struct Both { ListData<T> d; alignas(T) char room[few<T> * sizeof(T)]; };
    List l;
    auto* both = static_cast<Both*>(arena.take(sizeof(Both)));
    l.d = new (&both->d) ListData<T>{reinterpret_cast<T*>(both->room), 0, few<T>};
    return l;
  }
  INDEXPROOF_HOT static List make(Room<List>& room) {
    List l;
    l.d = &room.d;
    *l.d = {reinterpret_cast<T*>(room.items), 0, many<T>};
    return l;
  }
  template <class... R> static List of(std::initializer_list<T> xs, R&... room) {
    List l;
    if (!xs.size() && !sizeof...(room)) {
      // most of them stay empty
      l.d = indexproof::make<ListData<T>>();
      return l;
    }
    l = make(room...);
    l.reserve(xs.size());
    for (auto& x : xs) l.append(x);
    return l;
  }
  template <class C, class... R> static List from(const C& c, R&... room) {
    List l = make(room...);
    for (auto&& x : c) l.append(T(x));
    return l;
  }
  Int size() const { return d->n; }
  T* begin() const { return d->p; }
  T* end() const { return d->p + d->n; }
  T& operator[](Int i) const { return d->p[i < 0 ? i + d->n : i]; }
  INDEXPROOF_COLD void reserve(Int n) const {
    if (n <= d->cap) return;
    Int cap = std::max<Int>({n, 2 * d->cap, few<T>});
    T* p = arena.array<T>(cap);
    for (Int i = 0; i < d->n; i++) new (p + i) T(std::move(d->p[i]));
    d->p = p;
    d->cap = std::int32_t(cap);
  }
  INDEXPROOF_HOT void append(const T& x) const { T copy = x; if (d->n == d->cap) reserve(d->n + 1); new (d->p + d->n++) T(copy); }
  template <class C> void extend(const C& c) const { auto b = c.begin(), e = c.end(); for (; b != e; ++b) append(T(*b)); }
  T pop() const { return d->p[--d->n]; }
  void clear() const { d->n = 0; }
  void reverse() const { std::reverse(begin(), end()); }
  void sort() const { sort_stably(begin(), end(), [](auto& a, auto& b) { return a < b; }); }
  template <class F> void sort(F key) const {
    if (d->n < 2) return;
    using Pair = std::pair<decltype(key(*begin())), T>;
    Pair* with = arena.array<Pair>(d->n);
    for (Int i = 0; i < d->n; i++) new (with + i) Pair(key(d->p[i]), d->p[i]);
    sort_stably(with, with + d->n, [](auto& a, auto& b) { return a.first < b.first; });
    for (Int i = 0; i < d->n; i++) d->p[i] = with[i].second;
  }
  void remove(const T& x) const {
    for (Int i = 0; i < d->n; i++)
      if (d->p[i] == x) { for (; i + 1 < d->n; i++) d->p[i] = d->p[i + 1]; d->n--; return; }
    give_up();
  }
  template <class C> void assign(const C& c) const { std::vector<T> copy(c.begin(), c.end()); clear(); for (auto& x : copy) append(x); }
  Int index(const T& x) const { for (Int i = 0; i < d->n; i++) if (d->p[i] == x) return i; give_up(); }
  bool operator==(const List& o) const { return size() == o.size() && std::equal(begin(), end(), o.begin()); }
  bool operator!=(const List& o) const { return !(*this == o); }
  bool operator<(const List& o) const { return std::lexicographical_compare(begin(), end(), o.begin(), o.end()); }
};

template <class T> struct Room<List<T>> {
  ListData<T> d;
  alignas(T) char items[many<T> * sizeof(T)];
  Room() {}
};

// A tuple of any length.
template <class T>
struct Tup {
  using value_type = T;
  const T* p = nullptr;
  Int n = 0;
  template <class C> static Tup from(const C& c) {
    Tup t;
    std::size_t size = 0;
    for (auto b = c.begin(), e = c.end(); b != e; ++b) size++;
    T* q = arena.array<T>(size);
    for (auto&& x : c) new (q + t.n++) T(x);
    t.p = q;
    return t;
  }
  Int size() const { return n; }
  const T* begin() const { return p; }
  const T* end() const { return p + n; }
  const T& operator[](Int i) const { return p[i < 0 ? i + n : i]; }
  bool operator==(const Tup& o) const { return n == o.n && std::equal(begin(), end(), o.begin()); }
  bool operator!=(const Tup& o) const { return !(*this == o); }
  bool operator<(const Tup& o) const { return std::lexicographical_compare(begin(), end(), o.begin(), o.end()); }
};

template <int I> const Term& at(const Terms& t) { return t[I]; }
template <int I, class T> T& at(const List<T>& l) { return l[I]; }
template <int I, class T> const T& at(const Tup<T>& l) { return l[I]; }

template <class C> Terms terms_of(const C& c) {
  Term small[16];
  std::size_t n = 0;
  auto b = c.begin(), e = c.end();
  for (; b != e && n < 16; ++b) small[n++] = Term{at<0>(*b), at<1>(*b)};
  if (b == e) return terms_table.find(small, n);
  std::vector<Term> all(small, small + n);
  for (; b != e; ++b) all.push_back(Term{at<0>(*b), at<1>(*b)});
  return terms_table.find(all.data(), all.size());
}
template <class C> Terms sorted_terms(const C& c) {
  Term small[16];
  std::size_t n = 0;
  auto b = c.begin(), e = c.end();
  for (; b != e && n < 16; ++b) small[n++] = Term{at<0>(*b), at<1>(*b)};
  if (b == e) {
    sort_stably(small, small + n, [](auto& x, auto& y) { return x < y; });
    return terms_table.find(small, n);
  }
  std::vector<Term> all(small, small + n);
  for (; b != e; ++b) all.push_back(Term{at<0>(*b), at<1>(*b)});
  std::sort(all.begin(), all.end());
  return terms_table.find(all.data(), all.size());
}

// ------------------------------------------------------------------------------------------------ hashing
inline std::uint64_t hash_of(Int x) { return mix(std::uint64_t(x)); }
inline std::uint64_t hash_of(bool x) { return hash_of(Int(x)); }
inline std::uint64_t hash_of(Terms t) { return t.p ? t.p->hash : 0x51ull; }
inline std::uint64_t hash_of(const Form& f) { return hash_of(f.t) ^ hash_of(f.c); }
inline std::uint64_t hash_of(const Term& t) { return mix(std::uint64_t(t.a) * 0xd6e8feb86659fd93ull + std::uint64_t(t.k)); }
template <class T> std::uint64_t hash_of(T* p) { return mix(reinterpret_cast<std::uintptr_t>(p) >> 4); }
template <class T> std::uint64_t hash_of(const Tup<T>& t) {
  std::uint64_t h = std::uint64_t(t.n);
  for (auto& x : t) h = mix(h ^ hash_of(x)) * 3;
  return h;
}
template <class... T> std::uint64_t hash_of(const Tuple<T...>& t) {
  std::uint64_t h = 7;
  std::apply([&](const auto&... x) { ((h = mix(h * 31 + hash_of(x))), ...); }, t);
  return h;
}

// ------------------------------------------------------------------------------------------------ dictionaries
template <class K, class V> struct Entry {
  using Pair = std::conditional_t<std::is_same_v<K, Int> && std::is_same_v<V, Int>, Term, Tuple<K, V>>;
  K first;
  std::uint32_t hash;
  bool live;
  V second;
  operator Pair() const { return Pair{first, second}; }
};
template <int I, class K, class V> const auto& at(const Entry<K, V>& e) { if constexpr (I == 0) return e.first; else return e.second; }

template <class K, class V>
struct DictData {
  Entry<K, V>* e = nullptr;
  std::int32_t* slots = nullptr;
  std::int32_t n = 0, live = 0, cap = 0, buckets = 0, first = 0;
};

template <class K, class V>
struct Dict {
  using E = Entry<K, V>;
  using D = DictData<K, V>;
  static constexpr std::int32_t SMALL = 8;
  D* d = nullptr;
  Dict() = default;
  Dict(None) {}
  INDEXPROOF_HOT static Dict make() {
    struct Both { D d; alignas(E) char room[few<E> * sizeof(E)]; };
    Dict x;
    auto* both = static_cast<Both*>(arena.take(sizeof(Both)));
    x.d = new (&both->d) D();
    x.d->e = reinterpret_cast<E*>(both->room);
    x.d->cap = few<E>;
    return x;
  }
  INDEXPROOF_HOT static Dict make(Room<Dict>& room) {
    Dict x;
    x.d = &room.d;
    *x.d = D();
    x.d->e = reinterpret_cast<E*>(room.items);
    x.d->cap = many<E>;
    return x;
  }
  template <class C, class... R> static Dict from(const C& c, R&... room) {
    Dict x = make(room...);
    // the keys, such as the atoms of a sum, are distinct
    if constexpr (std::is_same_v<C, Terms>) for (auto& t : c) x.insert(t.a, t.k);
    else if constexpr (std::is_same_v<C, Dict>) for (auto& t : c.items()) x.insert(t.first, t.second);
    else for (auto&& t : c) x.set(at<0>(t), at<1>(t));
    return x;
  }
  Int size() const { return d->live; }

  struct Iterator {
    E* p; E* end;
    void skip() { while (p != end && !p->live) ++p; }
    Iterator& operator++() { ++p; skip(); return *this; }
    bool operator!=(const Iterator& o) const { return p != o.p; }
    bool operator==(const Iterator& o) const { return p == o.p; }
  };
  struct ItemIterator : Iterator { E& operator*() const { return *this->p; } };
  struct KeyIterator : Iterator { const K& operator*() const { return this->p->first; } };
  struct ValueIterator : Iterator { V& operator*() const { return this->p->second; } };
  template <class I> struct View {
    using value_type = std::decay_t<decltype(*std::declval<I>())>;
    D* d;
    I begin() const { I i; i.p = d->e + d->first; i.end = d->e + d->n; i.skip(); return i; }
    I end() const { I i; i.p = i.end = d->e + d->n; return i; }
    Int size() const { return d->live; }
  };
  View<ItemIterator> items() const { return {d}; }
  View<KeyIterator> keys() const { return {d}; }
  View<ValueIterator> values() const { return {d}; }
  auto begin() const { return keys().begin(); }
  auto end() const { return keys().end(); }

  INDEXPROOF_HOT E* find(const K& k) const {
    if (d->slots) return probe(k);
    for (E *p = d->e, *q = p + d->n; p != q; ++p)
      if (p->live && p->first == k) return p;
    return nullptr;
  }
  E* probe(const K& k) const {
    std::uint32_t h = std::uint32_t(hash_of(k));
    for (Int i = h & (d->buckets - 1);; i = (i + 1) & (d->buckets - 1)) {
      std::int32_t s = d->slots[i];
      if (s < 0) return nullptr;
      E* p = d->e + s;
      if (p->hash == h && p->live && p->first == k) return p;
    }
  }
  V& at_(const K& k) const { E* p = find(k); if (!p) give_up(); return p->second; }
  V& set(const K& k, const V& v) const {
    if (E* p = find(k)) { p->second = v; return p->second; }
    return insert(k, v);
  }
  V& insert(K k, V v) const {
    if (d->n == d->cap) grow();
    std::uint32_t h = d->slots ? std::uint32_t(hash_of(k)) : 0;
    E* p = new (d->e + d->n) E{k, h, true, v};
    if (d->slots) place(h, std::int32_t(d->n));
    d->n++;
    d->live++;
    return p->second;
  }
  V setdefault(const K& k, const V& v) const { if (E* p = find(k)) return p->second; return insert(k, v); }
  template <class W> V get(const K& k, const W& w) const { E* p = find(k); return p ? p->second : V(w); }
  void erase(const K& k) const { E* p = find(k); if (!p) give_up(); kill(p); }
  void discard(const K& k) const { if (E* p = find(k)) kill(p); }
  V pop(const K& k) const { E* p = find(k); if (!p) give_up(); V v = p->second; kill(p); return v; }
  template <class W> V pop(const K& k, const W& w) const { E* p = find(k); if (!p) return V(w); V v = p->second; kill(p); return v; }
  void clear() const { *d = D(); }
  bool has(const K& k) const { return find(k) != nullptr; }

 private:
  void kill(E* p) const {
    p->live = false;
    d->live--;
    if (!d->slots && p == d->e + d->n - 1) d->n--;
    else if (p == d->e + d->first) while (d->first < d->n && !d->e[d->first].live) d->first++;
  }
  void place(std::uint32_t h, std::int32_t at) const {
    Int i = h & (d->buckets - 1);
    while (d->slots[i] >= 0) i = (i + 1) & (d->buckets - 1);
    d->slots[i] = at;
  }
  INDEXPROOF_COLD void grow() const {
    std::int32_t cap = d->cap < SMALL ? std::clamp(2 * d->cap, few<E>, SMALL) : std::max((d->slots ? 2 : 4) * d->live, d->cap);
    E* e = arena.array<E>(cap);
    std::int32_t n = 0;
    for (E *p = d->e, *q = d->e + d->n; p != q; ++p)
      if (p->live) new (e + n++) E(*p);
    d->e = e;
    d->n = n;
    d->first = 0;
    d->cap = cap;
    d->slots = nullptr;
    if (cap > SMALL) {
      std::int32_t b = 4;
      while (b < cap * 2) b *= 2;
      d->buckets = b;
      d->slots = arena.array<std::int32_t>(b);
      std::memset(d->slots, 0xff, b * sizeof(std::int32_t));
      for (Int i = 0; i < n; i++) {
        e[i].hash = std::uint32_t(hash_of(e[i].first));
        place(e[i].hash, std::int32_t(i));
      }
    }
  }
};

template <class K, class V> struct Room<Dict<K, V>> {
  DictData<K, V> d;
  alignas(Entry<K, V>) char items[many<Entry<K, V>> * sizeof(Entry<K, V>)];
  Room() {}
};

template <class T>
struct Set {
  using value_type = T;
  Dict<T, Unit> m;
  Set() = default;
  Set(None) {}
  template <class... R> static Set make(R&... room) { Set s; s.m = Dict<T, Unit>::make(room...); return s; }
  template <class... R> static Set of(std::initializer_list<T> xs, R&... room) { return from(xs, room...); }
  template <class C, class... R> static Set from(const C& c, R&... room) { Set s = make(room...); for (auto&& x : c) s.add(T(x)); return s; }
  void add(const T& x) const { if (!m.has(x)) m.insert(x, Unit{}); }
  void clear() const { m.clear(); }
  bool has(const T& x) const { return m.has(x); }
  Int size() const { return m.size(); }
  auto begin() const { return m.begin(); }
  auto end() const { return m.end(); }
  template <class C> bool issuperset(const C& c) const { for (auto&& x : c) if (!has(x)) return false; return true; }
  template <class C> bool isdisjoint(const C& c) const { for (auto&& x : c) if (has(x)) return false; return true; }
};

template <class T> struct Room<Set<T>> : Room<Dict<T, Unit>> {};

// ------------------------------------------------------------------------------------------------ optional values
// Handles can be None themselves; other types are wrapped in Opt.
template <class T>
struct Opt {
  std::optional<T> v;
  Opt() = default;
  Opt(None) {}
  Opt(const T& x) : v(x) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U, T> && !std::is_same_v<std::decay_t<U>, None>>>
  Opt(const Opt<U>& o) { if (o.v) v = T(*o.v); }
};
template <class T> bool isnone(const Opt<T>& x) { return !x.v.has_value(); }
template <class T> bool isnone(const List<T>& x) { return !x.d; }
template <class K, class V> bool isnone(const Dict<K, V>& x) { return !x.d; }
template <class T> bool isnone(T* x) { return !x; }
template <class T> const T& some(const Opt<T>& x) { return *x.v; }
template <class T> const List<T>& some(const List<T>& x) { return x; }
template <class K, class V> const Dict<K, V>& some(const Dict<K, V>& x) { return x; }
template <class T> T* some(T* x) { return x; }
template <class T> bool operator==(const Opt<T>& x, const T& y) { return x.v && *x.v == y; }
template <class T> bool operator!=(const Opt<T>& x, const T& y) { return !(x == y); }

template <class K, class V> Opt<V> lookup(const Dict<K, V>& d, const K& k) { if (auto* e = d.find(k)) return e->second; return none; }
template <class K, class T> List<T> lookup(const Dict<K, List<T>>& d, const K& k) { if (auto* e = d.find(k)) return e->second; return none; }
template <class K, class L, class V> Dict<L, V> lookup(const Dict<K, Dict<L, V>>& d, const K& k) { if (auto* e = d.find(k)) return e->second; return none; }
template <class K, class T> T* lookup(const Dict<K, T*>& d, const K& k) { if (auto* e = d.find(k)) return e->second; return nullptr; }

// ------------------------------------------------------------------------------------------------ truth and membership
inline bool truthy(bool x) { return x; }
inline bool truthy(Int x) { return x != 0; }
inline bool truthy(const Form&) { return true; }
inline bool truthy(Terms t) { return t.p; }
template <class T> bool truthy(const Tup<T>& t) { return t.n; }
template <class T> bool truthy(const List<T>& x) { return x.d && x.d->n; }
template <class K, class V> bool truthy(const Dict<K, V>& x) { return x.d && x.d->live; }
template <class T> bool truthy(const Set<T>& x) { return truthy(x.m); }
template <class T> bool truthy(const Opt<T>& x) { return x.v && truthy(*x.v); }
template <class... T> bool truthy(const Tuple<T...>&) { return sizeof...(T) != 0; }
template <class T> bool truthy(T* x) { return x; }

template <class T> bool same(const List<T>& a, const List<T>& b) { return a.d == b.d; }
template <class T> bool same(const T& a, const T& b) { return a == b; }

template <class T, class X> bool in(const X& x, const List<T>& c) { for (auto& y : c) if (y == x) return true; return false; }
template <class T, class X> bool in(const X& x, const Tup<T>& c) { for (auto& y : c) if (y == x) return true; return false; }
template <class X> bool in(const X& x, const Terms& c) { for (auto& y : c) if (y == x) return true; return false; }
template <class K, class V> bool in(const K& x, const Dict<K, V>& c) { return c.has(x); }
template <class T> bool in(const T& x, const Set<T>& c) { return c.has(x); }

template <class A, class F> auto or_(const A& a, F b) -> decltype(b()) { using R = decltype(b()); return truthy(a) ? R(some(a)) : b(); }
inline Int or_(Int a, Int b) { return a ? a : b; }

// ------------------------------------------------------------------------------------------------ other builtins
template <class C> Int len(const C& c) { return c.size(); }
template <class C> auto slice(const C& c, Int lo, Int hi) {
  Int n = c.size();
  if (lo < 0) lo = std::max<Int>(0, lo + n);
  if (hi < 0) hi = std::max<Int>(0, hi + n);
  hi = std::min(hi, n);
  if constexpr (std::is_same_v<C, Terms>) {
    return lo < hi ? terms_table.find(c.begin() + lo, hi - lo) : Terms();
  } else if constexpr (std::is_same_v<C, List<typename C::value_type>>) {
    C out = C::make();
    for (Int i = lo; i < hi; i++) out.append(c[i]);
    return out;
  } else {
    C out;
    if (lo < hi) { out.p = c.p + lo; out.n = hi - lo; }
    return out;
  }
}
inline constexpr Int TO_END = INT64_MAX;
inline Terms concat(Terms a, Terms b) {
  std::vector<Term> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  return terms_table.find(all.data(), all.size());
}
template <class T> List<T> concat(const List<T>& a, const List<T>& b) { auto l = List<T>::from(a); l.extend(b); return l; }
template <class T> Tup<T> concat(const Tup<T>& a, const Tup<T>& b) { auto l = List<T>::from(a); l.extend(b); return Tup<T>::from(l); }
template <class... T, class... U> Tuple<T..., U...> concat(const Tuple<T...>& a, const Tuple<U...>& b) { return std::tuple_cat(a, b); }
template <class T, class C> List<T> sorted(const C& c) { auto l = List<T>::from(c); l.sort(); return l; }
template <class T, class C, class F> List<T> sorted(const C& c, F key) { auto l = List<T>::from(c); l.sort(key); return l; }
template <class T, class C> List<T> reversed(const C& c) { auto l = List<T>::from(c); l.reverse(); return l; }
template <class C> auto least(const C& c) { auto i = c.begin(); if (!(i != c.end())) give_up(); auto best = *i; for (++i; i != c.end(); ++i) if (*i < best) best = *i; return best; }
template <class C> auto most(const C& c) { auto i = c.begin(); if (!(i != c.end())) give_up(); auto best = *i; for (++i; i != c.end(); ++i) if (best < *i) best = *i; return best; }
template <class C, class F> auto least(const C& c, F key) { auto i = c.begin(); if (!(i != c.end())) give_up(); auto best = *i; auto k = key(best); for (++i; i != c.end(); ++i) { auto j = key(*i); if (j < k) { best = *i; k = j; } } return best; }
template <class C, class F> auto most(const C& c, F key) { auto i = c.begin(); if (!(i != c.end())) give_up(); auto best = *i; auto k = key(best); for (++i; i != c.end(); ++i) { auto j = key(*i); if (k < j) { best = *i; k = j; } } return best; }
inline Int smaller(Int a, Int b) { return b < a ? b : a; }
inline Int larger(Int a, Int b) { return b > a ? b : a; }
template <class C> Int total(const C& c) { Int n = 0; for (auto&& x : c) n = add(n, Int(x)); return n; }
template <class C> bool all_of(const C& c) { for (auto&& x : c) if (!truthy(x)) return false; return true; }
template <class C> bool any_of(const C& c) { for (auto&& x : c) if (truthy(x)) return true; return false; }
inline List<Int> numbers(Int lo, Int hi) { auto l = List<Int>::make(); for (; lo < hi; lo++) l.append(lo); return l; }
struct Gcd {
  Int g = 0;
  Gcd& one(Int x) { g = gcd(g, x); return *this; }
  template <class C> Gcd& all(const C& c) { for (auto&& x : c) g = gcd(g, x); return *this; }
};

// ------------------------------------------------------------------------------------------------ Python's hashes
// Digests order the terms of sums and the choices of a search, so they must equal Python's.
inline Int py_hash(Int x) {
  constexpr std::uint64_t P = (std::uint64_t(1) << 61) - 1;
  std::uint64_t m = x < 0 ? std::uint64_t(0) - std::uint64_t(x) : std::uint64_t(x);
  Int h = Int(m % P);
  if (x < 0) h = -h;
  return h == -1 ? -2 : h;
}
struct TupleHash {
  std::uint64_t acc = 2870177450012600261ull;
  std::uint64_t n = 0;
  void lane(Int h) {
    acc += std::uint64_t(h) * 14029467366897019727ull;
    acc = (acc << 31) | (acc >> 33);
    acc *= 11400714785074694791ull;
    n++;
  }
  Int done() const {
    std::uint64_t h = acc + (n ^ (2870177450012600261ull ^ 3527539ull));
    return h == std::uint64_t(-1) ? 1546275796 : Int(h);
  }
};
inline Int py_hash(Terms t);
inline Int py_hash(const Form& f) { TupleHash h; h.lane(py_hash(f.c)); h.lane(py_hash(f.t)); return h.done(); }
inline Int py_hash(const Term& t) { TupleHash h; h.lane(py_hash(t.a)); h.lane(py_hash(t.k)); return h.done(); }
inline Int py_hash(Terms t) { TupleHash h; for (auto& x : t) h.lane(py_hash(x)); return h.done(); }
template <class C> auto py_hash(const C& c) -> decltype(c.begin(), Int()) { TupleHash h; for (auto&& x : c) h.lane(py_hash(x)); return h.done(); }
template <class... T> Int py_hash(const Tuple<T...>& t) {
  TupleHash h;
  std::apply([&](const auto&... x) { (h.lane(py_hash(x)), ...); }, t);
  return h.done();
}

}  // namespace indexproof
