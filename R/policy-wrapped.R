# Policies around policies. The kernel is that of the inner policy; the session decides what it sees of rounds
# and rewards (src/play_session_view.h).

# `kind`: The constructor is policy_<kind>().
# `args`: The arguments besides the policy.
wrap_policy <- function(kind, policy, args, guarantee, title, any_reward = policy$any_reward) {
  structure(
    list(name = sprintf("%s(%s)", kind, policy$name), policy = policy,
         args = c(list(policy = policy), args), guarantee = guarantee,
         title = sprintf("%s, %s", policy$title, title), rounds_per_arm = policy$rounds_per_arm,
         any_reward = any_reward),
    class = c(paste0("dpts_policy_", kind), "dpts_policy_wrapped", "dpts_policy")
  )
}

check_policy <- function(x, arg = caller_arg(x)) {
  check_given(x, arg)
  if (!is_policy(x)) abort_arg(arg, "a policy", x, hint = hint_policy(x, arg))
  x
}

#' @export
format.dpts_policy_wrapped <- function(x, digits = 15, ...) {
  sprintf("%s(%s, %s)", sub("^dpts_", "", class(x)[1]), format(x$policy, digits = digits),
          format_args(x$args[-1], digits))
}

# Why a policy has no strata (src/policy_strata.c), or NULL
no_strata <- function(policy) {
  own <- unwrapped(policy)
  if (is_custom(own) || !is.null(own$policy)) return("is not written in C, or wraps another policy")
  if (life_of(policy) < Inf) return("is started anew")
  if (is_contextual(policy)) return("reads contexts")
  if (!is_true_of(policy, "each_once") || !is_true_of(policy, "reports")) {
    "does not release each reward in one noisy sum"
  }
}

# ---- restart ----------------------------------------------------------------------------------

#' Restart a policy at regular intervals
#'
#' `policy_restart()` restarts a policy every `every` rounds, so that it forgets all it has learned: the
#' simplest way to follow means that change over time.
#'
#' @details
#' Each life of the policy is a run of `every` rounds of its own: its clock starts at 1 and its counts
#' of pulls at 0, and a policy that needs to know its horizon gets `every` (or the horizon, if
#' that is less). A reward that comes after the life of its pull is in no sum, though
#' [agent_reward()] took it (`"used"`).
#'
#' Rounds are skipped, or simulated in vector code, wherever the policy itself could.
#'
#' @section Privacy:
#' The guarantee is that of one life of the policy. A reward is used in the life of its pull and in
#' no other, and other lives depend only on other rewards and on fresh randomness. Changing
#' one reward therefore changes the distribution of the arms of one life, by no more than the
#' guarantee of the policy for `every` rounds allows (parallel composition), however many lives there are. A
#' person who returns can be in several lives: see [privacy_group()].
#'
#' @param policy A policy.
#' @param every Rounds between two restarts: a whole number, above the `pilot` of a [policy_clipped()].
#' @template dots
#' @inherit policy_ts_gaussian return
#' @template see_policies
#' @references Garivier, A. and Moulines, E. (2011). On Upper-Confidence Bound Policies for Switching
#'   Bandit Problems. ALT. On what forgetting costs and gains.
#' @examples
#' policy_restart(policy_ucb1(), every = 1000)
#' # Gaussian TS pays only for the draws of one life.
#' dpts_privacy(policy_restart(policy_ts_gaussian(), 200), horizon = c(200, 1e6), delta = 1e-6)
#' @export
policy_restart <- function(policy, every, ...) {
  check_dots_empty(...)
  check_policy(policy)
  every <- check_count(every)
  old <- life_of(policy)
  if (every > old && every %% old != 0) {
    abort_arg("every", sprintf("at most %s, or a multiple of it: `policy` restarts this often already",
                               number_text(old, scientific = FALSE)), every)
  }
  pilot <- clipping_of(policy)$pilot %||% 0
  if (every <= pilot) {
    abort_arg("every", sprintf("above %s, the rewards of each life by which `policy` finds its range",
                               number_text(pilot, scientific = FALSE)), every)
  }
  wrap_policy("restart", policy, list(every = every), guarantee_of_lives(policy$guarantee, every),
              sprintf("restarted every %s rounds", label_count(every)))
}

# Rounds in a life of a policy; Inf if it has one
life_of <- function(policy) {
  life <- Inf
  while (inherits(policy, "dpts_policy_wrapped")) {
    life <- min(life, policy$args$every)
    policy <- policy$policy
  }
  life
}

# What clips rewards, be it inside others: its range and its pilot; NULL: nothing does
clipping_of <- function(policy) {
  while (!is.null(policy$policy) && !inherits(policy, "dpts_policy_clipped")) policy <- policy$policy
  if (inherits(policy, "dpts_policy_clipped")) policy$params[c("lower", "upper", "pilot")]
}

#' @export
kernel.dpts_policy_restart <- function(policy, horizon) {
  out <- kernel(policy$policy, min(horizon, policy$args$every))
  out$every <- min(out$every, policy$args$every)
  out
}

# ---- local ------------------------------------------------------------------------------------

#' Local privacy: randomise each reward before the policy sees it
#'
#' `policy_local()` randomises each reward before it leaves the person, for people who do not trust the
#' learner. Each reward becomes a random bit, and the policy, which may be any, sees and keeps only bits.
#'
#' @details
#' A reward r of \[0, 1\] becomes a bit in two steps:
#'
#' 1. a random bit that is 1 with probability r (a reward of 0 or 1 is unchanged);
#' 2. randomised response (Warner 1965): the bit is flipped with probability q = 1 / (1 + e^`epsilon`).
#'
#' The policy gets the bit as its reward. The bit of an arm of mean m has the mean q + (1 - 2 q) m: a
#' known map that keeps the order of arms and shrinks all gaps by 1 - 2 q = tanh(`epsilon` / 2).
#' Bits rather than debiased rewards, (bit - q) / (1 - 2 q), because those lie outside
#' \[0, 1\], where many indices and all privacy mechanisms make no sense. The regret and the rewards of
#' a simulation are those of the original rewards; [estimates()] undoes the map.
#'
#' With `epsilon = Inf` nothing is randomised: the result is the policy itself. Gaps that shrink by
#' g make the regret of good policies grow by about 1 / g^2 (for Bernoulli means near 1/2; Basu,
#' Dimitrakakis and Tossou 2019).
#'
#' Simulations use the same short cuts as for the policy itself: of n rewards, s of which are 1, the number of
#' bits that are 1 is a sum of two binomial variables.
#'
#' @section Privacy:
#' Every reward has the guarantee before anyone sees it: all that the learner sees and stores is `epsilon`-DP,
#' and so are the arms and everything else that is computed from it, whatever the policy, the delay or the
#' available arms. The bits of two rewards have the probabilities 1 - q and q at most and at least, in the
#' ratio e^`epsilon`. q is rounded up to a multiple of 2^-53, and hit exactly.
#'
#' A policy with a guarantee of its own gets randomised rewards, and adds its own noise. If its guarantee is
#' `epsilon_1`-DP for rewards, the arms have ln((e^(`epsilon` + `epsilon_1`) + 1) / (e^`epsilon` +
#' e^`epsilon_1`)), less than either of the two.
#'
#' Contexts are not randomised.
#'
#' @param policy A policy.
#' @param epsilon Privacy parameter of each reward: a number of at least 1e-6, or `Inf` for no randomisation.
#' @template dots
#' @inherit policy_ts_gaussian return
#' @references Warner, S. L. (1965). Randomized Response: A Survey Technique for Eliminating Evasive
#'   Answer Bias. Journal of the American Statistical Association 60, 63-69.
#'
#'   Basu, D., Dimitrakakis, C. and Tossou, A. (2019). Differential Privacy for Multi-armed Bandits:
#'   What Is It and What Is Its Cost? arXiv:1905.12298.
#' @template see_policies
#' @concept local model of privacy
#' @concept randomised response
#' @examples
#' policy_local(policy_imed(), epsilon = 1)
#' arms <- arms_bernoulli(c(0.7, 0.5))
#' sim <- dpts_simulate(arms, list(
#'   "trusted learner" = policy_dp_imed(1), "untrusted learner" = policy_local(policy_imed(), 1)
#' ), horizon = 1e5, runs = 5, seed = 1)
#' subset(summary(sim), t == 1e5)
#' @export
policy_local <- function(policy, epsilon, ...) {
  check_dots_empty(...)
  check_policy(policy)
  epsilon <- check_budget_number(epsilon)
  if (epsilon == Inf) return(policy)
  if (identical(unwrapped(policy)$params$outcome, "continuous")) {
    abort_input("policy", paste("`policy` must have `outcome = \"binary\"`: of a reward it sees one bit,",
                                "which has no square."))
  }
  wrap_policy("local", policy, list(epsilon = epsilon), guarantee_local(policy, epsilon),
              sprintf("with locally private rewards (epsilon = %s)", format_up(epsilon)),
              any_reward = FALSE)
}

# The chance to turn a bit. Rounded up to a multiple of 2^-53, which C hits exactly.
# And never 0, though plogis(-epsilon) is, above 709: without a turn nothing would be private.
# plogis() is off by less than 4e-16 of itself.
flip_chance <- function(epsilon) max(1, ceiling(stats::plogis(-epsilon) * (1 + 4e-16) * 2^53)) * 2^-53

# The chance that a bit has been turned an odd number of times
flip_twice <- function(p, q) p + q - 2 * p * q

# The chance that a policy sees the other bit; 0 if it sees rewards
flip_of <- function(policy) {
  flip <- 0
  while (inherits(policy, "dpts_policy_wrapped")) {
    if (inherits(policy, "dpts_policy_local")) flip <- flip_twice(flip, flip_chance(policy$args$epsilon))
    policy <- policy$policy
  }
  flip
}

# Are the bits that a locally private policy sees inside its own guarantee? They are not where that is
# better than what randomised response promises.
bits_are_public <- function(policy) {
  flip_of(policy) > 0 && identical(policy$guarantee$published, "bits")
}

guarantee_local <- function(policy, epsilon) {
  own <- policy$guarantee
  neighbours <- if (is_contextual(policy)) "public_context" else "reward"
  if (promises_nothing(own)) return(guarantee_pure(epsilon, neighbours = neighbours, published = "bits"))
  # What protects contexts too is not to be had from rewards.
  if (!own$neighbours %in% c("reward", "public_context")) return(own)
  pure <- form(own, "epsilon", conditions(Inf))
  if (is.null(pure)) return(guarantee_pure(epsilon, neighbours = neighbours, published = "bits"))
  guarantee_pure(pure_of_response(epsilon, pure), neighbours = own$neighbours)
}

# Randomised response of epsilon a, seen through something b-DP: the worst is a mixture of two
# distributions whose ratio is e^b, with the weights 1 - q and q against q and 1 - q
pure_of_response <- function(a, b) {
  # ln((e^(a + b) + 1) / (e^a + e^b)), without overflow
  min(a, b) + log1p(exp(-a - b)) - log1p(exp(-abs(a - b)))
}

#' @export
kernel.dpts_policy_local <- function(policy, horizon) {
  out <- kernel(policy$policy, horizon)
  out$flip <- flip_of(policy)
  out
}
