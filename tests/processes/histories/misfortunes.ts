/**
 * Payment methods of the simulated gateway: half of the payments are ordinary ones; with the others it loses requests and
 * answers, carries out late, answers nonsense, cannot be reached, takes its time and declines.
 */
export const everyMisfortune: readonly [string, ...string[]] = [
  ...(Array.from({ length: 10 }, () => "tok_ok") as [string, ...string[]]),
  "tok_timeout_captured",
  "tok_timeout_not_captured",
  "tok_late_1500",
  "tok_slow_200",
  "tok_error_500",
  "tok_unreachable",
  "tok_capture_decline",
  "tok_authorization_gone",
  "tok_decline",
  "tok_authorize_timeout_captured",
  "tok_authorize_unreachable",
  "tok_refund_timeout_captured",
  "tok_refund_late_800",
  "tok_refund_unreachable",
  "tok_refund_decline",
  "tok_void_timeout_captured",
];
