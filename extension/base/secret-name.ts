/** Whether a variable of the environment likely holds a secret. Source: capability specification 0.8 "Environment". */
export const isSecretName = (name: string): boolean => /KEY|PASSWORD|SECRET|TOKEN/i.test(name)
