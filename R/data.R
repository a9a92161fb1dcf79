#' Two logs of real recommendations
#'
#' The men's campaign of the Open Bandit Dataset, small sample: what was recommended on a page of the fashion
#' shop ZOZOTOWN, and whether it was clicked. One log was made by a policy that chooses uniformly among 34
#' items, the other by Bernoulli Thompson sampling (by position, over several campaigns, learned before).
#'
#' @format A tibble with 20,000 rows, 10,000 per logger, in order of time within each:
#'   * `logger`: factor, `"random"` or `"bts"`;
#'   * `arm`: the item shown, an integer from 0 to 33;
#'   * `reward`: 1 if it was clicked, else 0;
#'   * `propensity`: the probability with which the logging policy showed the item at this position; 1/34
#'     for `"random"`;
#'   * `position`: factor: 1 left, 2 centre, 3 right;
#'   * `user_feature_0`, `user_feature_1`: factors, anonymised. The publisher's hashes are
#'     replaced by letters, `a` for the most common;
#'   * `context_constant`, `context_position_2`, `context_position_3`, `context_user_0_2`, `context_user_0_3`,
#'     `context_user_1`: a context of six numbers, each 0 or 1: a constant, the positions 2 and 3, the levels
#'     b and c of `user_feature_0`, and whether `user_feature_1` is other than a.
#'
#'   Times, the other user features, the items' features and the affinities between users
#'   and items are left out.
#' @source The folder `obd` of <https://github.com/st-tech/zr-obp>, by ZOZO, Inc., under the Apache
#'   License 2.0, whose text is in `system.file("licenses", "open-bandit-LICENSE", package = "dpts")`. The
#'   script `data-raw/open_bandit.R` of the package's sources made this table from it.
#' @references Saito, Y., Aihara, S., Matsutani, M. and Narita, Y. (2020). Open Bandit
#'   Dataset and Pipeline: Towards Realistic and Reproducible Off-Policy Evaluation.
#'   arXiv:2008.07146. Please cite it when you use the data.
#' @template see_logs
#' @examples
#' aggregate(reward ~ logger, open_bandit, mean)
"open_bandit"
