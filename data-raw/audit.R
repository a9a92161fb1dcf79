# Makes vignettes/audit-prepulls.csv: the one audit that is too slow for the article "How private is
# it really?", that of Gaussian Thompson sampling with 500 pre-pulls over 10,000 rounds.
# It takes about a minute of one core.
#
#   Rscript data-raw/audit.R

library(dpts)

audit <- dpts_audit(policy_ts_gaussian(prepulls = 500, variance_scale = 14), horizon = 1e4,
                    streams = "contest", delta = c(0.01, 1e-5), runs = 6000, seed = 1)
write.csv(as.data.frame(audit), "vignettes/audit-prepulls.csv", row.names = FALSE)
