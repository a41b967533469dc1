//! Texts that nobody but their holder may see: they print as `[hidden]` and are compared in
//! constant time.

use std::fmt;
use std::sync::Arc;

use subtle::ConstantTimeEq;

macro_rules! hidden {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Eq)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes `text` as it is.
            pub fn new(text: &str) -> Self {
                Self(text.into())
            }

            /// The text itself, for sending and for checking.
            pub fn reveal(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("[hidden]")
            }
        }
    };
}

hidden!(
    /// What an agent shows to prove who it is: a token (`tok_…`) or a proof (`prf_…`).
    AuthToken
);
hidden!(
    /// What an agent shows at its registration to be let in.
    JoinCode
);
hidden!(
    /// The secret from which a match's draw follows; revealed when the match is over.
    DrawSeed
);

#[cfg(test)]
mod tests {
    use super::*;

    // req: AUTH-3
    #[test]
    fn tokens_do_not_print() {
        let token = AuthToken::new("tok_player_P01_00ff");
        assert_eq!(format!("{:?} {token:?}", Some(&token)), "Some([hidden]) [hidden]");
        assert_eq!(token, AuthToken::new("tok_player_P01_00ff"));
        assert_ne!(token, AuthToken::new("tok_player_P01_00fe"));
        assert_ne!(token, AuthToken::new("tok_player_P01_00f"));
    }
}
