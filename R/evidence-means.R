# What evidence by means is, to the last digit: the code is src/policy_evidence_means.c.

#' Evidence by means, step by step
#'
#' This page says how [evidence()] by means is computed, so that anybody can recompute it from a release table
#' ([dpts_releases()]). You do not need it to use the evidence.
#'
#' @details
#' All that is fixed before a release is a function of earlier releases of all arms, of how many rewards are
#' in the release, and of the law of its noise. That is what makes the evidence valid: these rules decide only
#' how fast it grows. Rewards are parts of the range, and rows with `whole = FALSE` are left out. The rows of
#' one block are one look: everything that is fixed before a release is fixed for all of them first. The
#' standard deviation s or the scale b is that of one variable of noise, and 0 where there is none. Of several
#' arms with the same mean the first one counts as the highest.
#'
#' # What is known of an arm
#' The releases of an arm are in groups; those of a group had the same tilts. A group with L rewards, the sum
#' y and noise of the total variance N has the weight w = L / (v + N / L). The arm's mean m is the mean of
#' y / L by these weights, and V = 1 / (sum of w). A group without rewards does not count.
#'
#' At first m is 1/2, V is infinite and v is 1/4. After each release m and V are computed with the v of
#' before. Then z is the number nearest to 1/2 from m - sqrt(V) to m + sqrt(V), and v is z (1 - z), but at
#' least 0.03.
#'
#' # Gaps
#' The capital of an arm is on bets for 14 gaps between its mean and theta:
#' * the gap 0 has 0.02 of the capital;
#' * the gaps 0.005, 0.008, ..., 0.005 times 1.6^9 have 0.073 each;
#' * 0.6, 1 and 1.6 times the gap G of the arm have 1/16, 1/8 and 1/16.
#'
#' Before each look G is computed for each arm of which something will be released. Let c be the other arm
#' with the highest mean, of those with rewards. Then G is |m - m_c| V / (V + V_c); in a [verdict()] with a
#' margin it is |m - m_c + margin| V / (V + V_c). G is 0.05 until both arms have rewards. Against a known rate
#' G is |m - rate|. Before the first release it is then sqrt(2 T (1/4 + N / L) / L), for its N and L, where T
#' is the highest `line`.
#'
#' # Tilts
#' Before a release of L rewards each gap g has its tilt l, at most 20. If L is 0 all tilts are 0.
#' * With Gaussian noise of standard deviation s, or none, l = g / (v + s^2 / L).
#' * With Laplace or geometric noise of scale b, l = u / b. Here u is where g L / b - u v L / b^2 is equal to
#'   the derivative by u of ln E e^(u noise / b). It is found by 24 halvings of the interval from 0 to the
#'   least of 1, g b / v and, for Laplace noise, g L / (2 b); u is the lower end of the last one.
#'
#' # Groups
#' The factor between two vectors of tilts is the largest ratio of two tilts of the same gap. A release joins
#' the group with the least factor, and takes its tilts, if that factor is at most 1.06. Otherwise it begins a
#' new group. An arm has at most 24 groups; after that a release joins the nearest one, however far it is.
#' Laplace or geometric noise may have no E e^(l noise) for a tilt of a group. Then that group is passed
#' over. If there is no room and no other group, the release joins the group that began last, and the capital
#' on such a tilt is lost.
#'
#' # Evidence
#' A release multiplies the capital on a tilt, for the bet that the mean is above theta, by
#' e^(l y) / (1 - theta + theta e^l)^L / E e^(l noise). For the bet that it is below, -l takes the place of l.
#' E e^(l noise) has one factor for each of the `terms`:
#' * e^(l^2 s^2 / 2 + l grid / 2) for Gaussian noise;
#' * 1 / (1 - l^2 b^2) for Laplace noise;
#' * 1 / (1 - (sinh(l grid / 2) / sinh(grid / (2 b)))^2) for geometric noise.
#'
#' The evidence of an arm is the sum of the 14 capitals, 1 at the beginning. W_ab is the minimum over theta of
#' the logarithm of the product of two: that the mean of a is above theta, and that of b below
#' theta + margin. Both theta and theta + margin are in \[0, 1\]. The package gives a number that is never
#' above this minimum, and below it by less than 1e-6.
#'
#' # Squares
#' If the first release of an arm has squares, there are bets with squares, too. They have the same gaps and
#' shares, tilts of their own, and groups of their own: 12 of each kind in place of 24. The rules differ in
#' this:
#' * v is the safe variance below in place of z (1 - z), but for the tilts of bets without squares.
#' * The centre of a release is c = m, but between 0.01 and 0.99. For bets above theta B = c and s = 1, for
#'   bets below B = 1 - c and s = -1. Let psi = (-ln(1 - l B) - l B) / B^2.
#' * Let a be the variance of one variable of noise over L, and d = v + a + g B. The tilt is
#'   2 g / (d + sqrt(max(d^2 - 4 a B g, 0))), at most 20 and at most 0.95 / B. It is multiplied by 0.9 as
#'   often as needed for two conditions. The first is that l - s psi (1 - 2 c) is not negative. The second,
#'   with Laplace noise, is that this number times b, and psi times b over `weight`, are below 0.95.
#' * The factor between two groups looks at both sides. It is larger by 1 if the centres differ by more than
#'   0.15 sqrt(v).
#' * The noise of the sum has the tilt |s l - psi (1 - 2 c)|, and that of the squares, which is smaller by
#'   `weight`, psi. [evidence()] has the factor of a release.
#' * The evidence of an arm, and the product of two arms in W_ab, is half of that without squares and half of
#'   that with them.
#'
#' The safe variance is of all n rewards so far, with the sums y and Q. Let x = y / n - 1/2, and let e =
#' max(Q / n - x^2, 0). Let D be the standard deviation of all noise in y over n, where each variable of it
#' has the law of the last release. The safe variance is
#' e + 2 D sqrt(1 / weight^2 + 4 x^2) + 0.35 sqrt(e / n) + 0.7 / n + 1e-4. It is at most 1/4 - f^2, where f =
#' max(min(|x|, 1/2) - 2 D - 1 / sqrt(n), 0).
#'
#' # Correlated noise
#' Here tilts are fixed one release ahead: those of the next release before this one, with its L, and the
#' first release has those of the second. They are as for independent noise whose s is smaller by
#' sqrt((1 - r) / (1 + r)), r being the correlation; so is the N of groups. Let S = s / (sqrt(1 - r^2) (1 -
#' 2^-20)), and let k be the tilt of the noise, which is l, or with squares l - s psi (1 - 2 c). The j-th
#' release of an arm, with the tilts l and k, and k' fixed for the next one, is charged in two ways:
#' * as it was announced: S^2 (k - r k')^2 / 2 in place of ln E e^(l noise), and, once, for the last release
#'   alone r k' S t. A normal variable exceeds t with probability h / (j (j + 1)). Here h is the part of
#'   `error` that is spent on noise over the number of arms: `error` / 10, against a rate `error` / 5 over
#'   twice the number of arms;
#' * as it is valued at once: S^2 k^2 / 2 in place of the last release's two terms.
#'
#' Both are charged 2 grid k (1 + r) S / s more for each release of rounded noise. The capital is on the first
#' way, less the shares that were valued. Up to four times an arm has a share valued, which was announced
#' before the look; what it is worth stays. Let a be the arm with the highest mean and b the arm to be
#' valued, or for a itself the other arm with the least value of D |D| / (V_a + V_b), D = m_a - m_b + margin.
#' If all arms have rewards, W is W_ab with all capital valued at once. Let left_a (above) and left_b (below)
#' be the parts of the capital that are not valued yet, and n the number of rewards of the arm so far. Half of
#' its part is announced if ln(left_a left_b / 4) + W + (max(W, 0) + 2) L / n is at least the highest `line`
#' less 1. [effects()] values no shares.
#' @references Ville, J. (1939). Étude critique de la notion de collectif. Gauthier-Villars: a nonnegative
#'   supermartingale that starts at 1 ever reaches 1 / alpha with probability at most alpha.
#'
#'   Fan, X., Grama, I. and Liu, Q. (2015). Exponential Inequalities for Martingales with Applications.
#'   Electronic Journal of Probability 20(1), 1-22: the bets with squares.
#' @seealso [evidence()] computes these, [verdict()] concludes from them, and [dpts_releases()] has the table
#'   that both read.
#' @concept evidence
#' @concept e-process
#' @examples
#' # One release of 400 rewards of a known arm, against a mean of 0.3
#' table <- as_releases(data.frame(arm = 1, n = 400, sum = 150), noise = "gaussian", scale = 2)
#' gap <- sqrt(2 * log(2 / 0.05) * (1 / 4 + 2^2 / 400) / 400)
#' gaps <- c(0, 0.005 * 1.6^(0:9), c(0.6, 1, 1.6) * gap)
#' capital <- c(0.02, rep(0.073, 10), 1 / 16, 1 / 8, 1 / 16)
#' l <- pmin(gaps / (1 / 4 + 2^2 / 400), 20)
#' growth <- l * 150 - 400 * log(1 - 0.3 + 0.3 * exp(l)) - l^2 * 2^2 / 2
#' log(sum(capital * exp(growth)))
#' evidence(table, "means", against = 0.3)
#' @name evidence_means
NULL
