"""Continue a member: more steps, another supervision, a longer task."""

import sorites as so

action = so.action_named("C3")
task, longer = (so.Lego(action, length, variables=8) for length in (3, 5))


def stages(task, supervision, steps):
    evaluation = so.Evaluation(50, 256, (so.Loss(), so.Outcome("rolled")))
    source, optimizer = so.Sampled(128), so.Adam(0.003)
    return so.stages(task, [supervision], source, optimizer, steps, evaluation)


forced = so.teacher_forcing(task.layout, so.CrossEntropy())
first = so.train(so.Run(so.decoder(task), stages(task, forced, 200)), seeds=[0])
# more steps, on new batches
more = so.train(first.continue_with(0, stages(task, forced, 100)), seeds=[0])
# another supervision
reward = so.process_reward(task.layout)
tuned = so.train(more.continue_with(0, stages(task, reward, 50)), seeds=[0])
# a longer task
forced = so.teacher_forcing(longer.layout, so.CrossEntropy())
grown = so.train(more.continue_with(0, stages(longer, forced, 100)), seeds=[0])

for trained in (first, more, tuned, grown):
    start, end = trained.history.metrics["rolled.answer"][0, [0, -1]]
    print(f"right answers {start:.2f} -> {end:.2f}")
