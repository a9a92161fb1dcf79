#' @references Saito, Y., Aihara, S., Matsutani, M. and Narita, Y. (2020). Open Bandit Dataset and
#'   Pipeline: Towards Realistic and Reproducible Off-Policy Evaluation. arXiv:2008.07146.
