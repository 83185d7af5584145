/** What a caller writes on a payment for their own use. Nothing is decided by it. */
export interface PaymentLabels {
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Only these of something that has more. */
export function labelsOf({ reference, metadata }: PaymentLabels): PaymentLabels {
  return { reference, metadata };
}
