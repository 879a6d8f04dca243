"""The pure state machine of the agent loop: state, commands, effects and transitions."""
