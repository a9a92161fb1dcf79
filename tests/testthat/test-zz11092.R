quiet <- function(expr) withr::with_options(list(rlib_message_verbosity = "quiet"), 
    expr)
test_that("an agent is analysed at the looks of its plan", {
    skip_if_not_installed("RSQLite")
    policy <- policy_randomised(mu = 1, block = 50)
    arms <- arms_bernoulli(c(old = 0.2, new = 0.6))
    plan <- dpts_plan(policy, arms, 200, control = "old", looks = c(0.5, 
        0.75), spending = "pocock", runs = 5, seed = 1)
    agent <- dpts_agent(policy, c("old", "new"), use = "arrival")
    agent_plan(agent, plan)
    people <- function(n) {
        choice <- agent_choose(agent, n)
        agent_reward(agent, choice$ticket, rep_len(0:2, n) < 
            1 + (choice$arm == "new"))
    }
    look <- function(...) quiet(effects(agent, control = "old", 
        at = "end", ...))
    people(60)
    expect_true(is.na(look()$p))
    people(50)
    first <- look()
    expect_equal(first, look(looks = c(0.5, 0.75), spending = "pocock", 
        people = 200))
    table <- dpts_releases(agent)
    expect_equal(unique(table$looks), "0.5 0.75 pocock")
    file <- tempfile()
    on.exit(unlink(file))
    utils::write.csv(table, file, row.names = FALSE)
    expect_equal(quiet(effects(as_releases(utils::read.csv(file)), 
        "old", at = "end"))$p/first$p, 1)
    once <- quiet(effects(table[names(table) != "looks"], control = "old", 
        at = "end"))
    expect_equal(first$p * log1p((exp(1) - 1)/2)/once$p, 1, tolerance = 0.001)
    people(90)
    rlang::reset_message_verbosity("looks")
    withr::local_options(rlib_message_verbosity = "verbose")
    expect_message(effects(agent, control = "old", at = "end"), 
        "look 3 of 3, of 200 people", class = "dpts_message_end")
    agent_plan(agent, "people: 300", reason = "more come")
    expect_equal(look(), look(looks = c(0.5, 0.75), spending = "pocock", 
        people = 300))
    agent_plan(agent, dpts_plan(policy, arms, 300, control = "old", 
        runs = 5, seed = 1), reason = "no board")
    expect_null(dpts_releases(agent)[["looks"]])
    agent_close(agent)
})
